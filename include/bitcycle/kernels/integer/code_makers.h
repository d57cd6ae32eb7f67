#pragma once

// The ways to make an image's codes: quantizing what a convolution put out, or the errors that came
// back (stored_codes.h: loading codes that were stored). Operands are views and must outlive their
// maker.

#include "bitcycle/kernels/integer/passes.h"

#include <memory>

namespace bitcycle::integer {

struct ActivationPlan;
struct ErrorPlan;

// code = clamp(RNE(y * (scale / s) + (shift / s + z)), 0, n) with s and z of `params`: x / s + z in
// one multiplication and addition. No residual.
class ActivationCodes : public CodeMaker {
 public:
  ActivationCodes(const CodeGrid& grid, const ActivationSource& source, const CodeParams& params);
  ~ActivationCodes() override;
  void make(int image, std::uint8_t* codes) const override;

 private:
  std::unique_ptr<const ActivationPlan> plan_;
  CodeParams params_;
};

// Stochastic rounding: code = clamp(RNE(e / s + z + noise), 0, n), with the noise of the element's
// index in the dense tensor (Note [Rounding noise]).
class ErrorCodes : public CodeMaker {
 public:
  ErrorCodes(const CodeGrid& grid, const ErrorSource& source, const CodeParams& params,
             NoiseKey key);
  ~ErrorCodes() override;
  void make(int image, std::uint8_t* codes) const override;
  void make_wide(int image, std::uint8_t* high, std::uint8_t* low) const override;

 private:
  std::unique_ptr<const ErrorPlan> plan_;
  CodeParams params_;
  NoiseKey key_;
};

// Nested codes: those of `params` from 8-bit codes over the same range, which `finest` makes or
// loads, code_b = clamp(RNE((q8 - z8) * (s8 / s_b) + z_b), 0, 2^b - 1); Note [Nested codes]. Over
// StoringCodes one pass gives both.
class NestedCodes : public CodeMaker {
 public:
  NestedCodes(const CodeGrid& grid, const CodeMaker& finest, const CodeParams& finest8,
              const CodeParams& params)
      : grid_(grid), finest_(finest), finest8_(finest8), params_(params) {}
  void make(int image, std::uint8_t* codes) const override;

 private:
  CodeGrid grid_;
  const CodeMaker& finest_;
  CodeParams finest8_;
  CodeParams params_;
};

// The codes of all images, grid.bytes() of them.
void make_all(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes);
// Likewise for more than 8 bits: the high codes of all images, then the low ones.
void make_all_wide(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes);
std::size_t wide_bytes(const CodeGrid& grid);

}  // namespace bitcycle::integer
