#pragma once

// The table of fused passes over one image, filled in once an instruction set from the templates in
// pass_bodies.h.

#include "bitcycle/kernels/integer/passes.h"

#include <limits>

namespace bitcycle::integer {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Per-channel arrays are padded to panels of 16; null pointers stand for absent operands.
struct ActivateJob {
  CodeGrid grid;
  const void* y;
  const void* residual;
  const float* scale;
  const float* shift;
  float floor;  // 0 for ReLU, minus infinity without
  // Sinks
  void* output;
  std::uint8_t* mask;
  std::uint8_t* codes;
  CodeParams params;
};

struct GradientJob {
  CodeGrid grid;
  const void* gradient;
  const void* residual;
  const void* y;
  const std::uint8_t* mask;
  const float* scale;  // null: no gate by y
  const float* shift;
  const float* per_channel;  // [channels], not padded
  // Sums: mean, output, and [sum, deviation, low, high][padded channels]. Errors: a, b, c, codes.
  const float* mean;
  void* output;
  float* sums;
  const float* a;
  const float* b;
  const float* c;
  std::uint8_t* codes;
  std::uint8_t* low_codes;  // of more than 8 bits; `codes` has the high ones
  CodeParams params;
  NoiseKey key;
  std::int64_t first_element;  // index of the image's first element, for the noise
};

// code = clamp(RNE((finest - finest_zero) * ratio + zero), 0, largest)
struct NestStep {
  float finest_zero;
  float ratio;  // of the finest scale to the option's
  float zero;
  float largest;
};

struct NestJob {
  std::uint8_t* codes;  // the finest, and then those of `params`
  std::ptrdiff_t count;
  NestStep step;
  CodeParams params;
};

struct OptionJob {
  CodeGrid grid;
  const void* gradient;
  const std::uint8_t* codes;  // the finest
  const NestStep* steps;      // of each option
  int options;
  double* products;  // of each option, without its scale; are added to
};

struct MaxPoolJob {
  CodeGrid input;
  CodeGrid output;
  int kernel, stride, pad;
  const void* from;
  std::uint8_t* taps;  // index of the largest, per output
  void* to;
};

// Pointers are to the image's own part of each tensor. Indexed by Real.
struct PassKernels {
  Range (*activate[2])(const ActivateJob&);      // output, mask; returns the range
  void (*quantize[2])(const ActivateJob&);       // codes
  void (*gradient_sums[2])(const GradientJob&);  // output, sums
  void (*quantize_errors[2])(const GradientJob&);
  void (*nest)(const NestJob&);
  void (*option_products[2])(const OptionJob&);
  void (*quantize_wide_errors[2])(const GradientJob&);
  // The inner product, lane by lane in the order of elements.
  double (*product[2])(const void* a, const void* b, std::ptrdiff_t count);
  void (*to_half)(const float* from, std::ptrdiff_t count, Half* to);
  void (*to_float)(const Half* from, std::ptrdiff_t count, float factor, float* to);
  void (*mean_pool[2])(const CodeGrid&, const void* from, void* to);
  void (*mean_pool_backward[2])(const CodeGrid&, const void* from, void* to);
  void (*max_pool[2])(const MaxPoolJob&);
  void (*max_pool_backward[2])(const MaxPoolJob&);
};

extern const PassKernels kScalarPasses;
extern const PassKernels kAvx2Passes;
extern const PassKernels kAvx512Passes;
extern const PassKernels kEmulatedAvx512Passes;  // in tests only

}  // namespace bitcycle::integer
