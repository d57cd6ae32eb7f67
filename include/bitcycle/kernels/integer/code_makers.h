#pragma once

// The ways to make an image's codes: quantizing what a convolution put out, or the errors that came
// back, and loading codes that were stored. Operands are views and must outlive their maker.

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

// Codes as they are kept from the forward to the backward pass: without their halo, and two to a
// byte where they have 4 bits or fewer.
std::size_t stored_bytes(const CodeGrid& grid, int bits);

class StoredCodes : public CodeMaker {
 public:
  StoredCodes(const CodeGrid& grid, const CodeParams& params, const std::uint8_t* stored)
      : grid_(grid), params_(params), stored_(stored) {}
  void make(int image, std::uint8_t* codes) const override;

 private:
  CodeGrid grid_;
  CodeParams params_;
  const std::uint8_t* stored_;
};

// Stores what another maker makes.
class StoringCodes : public CodeMaker {
 public:
  StoringCodes(const CodeGrid& grid, const CodeParams& params, const CodeMaker& maker,
               std::uint8_t* stored)
      : grid_(grid), params_(params), maker_(maker), stored_(stored) {}
  void make(int image, std::uint8_t* codes) const override;

 private:
  CodeGrid grid_;
  CodeParams params_;
  const CodeMaker& maker_;
  std::uint8_t* stored_;
};

// The codes of all images, grid.bytes() of them.
void make_all(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes);

}  // namespace bitcycle::integer
