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

 private:
  std::unique_ptr<const ErrorPlan> plan_;
  CodeParams params_;
  NoiseKey key_;
};

// The codes of all images, grid.bytes() of them.
void make_all(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes);

}  // namespace bitcycle::integer
