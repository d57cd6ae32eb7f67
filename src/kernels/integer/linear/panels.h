#pragma once

// The packed weights of a fully connected layer; Note [Operands] in isa/linear_kernels.h says how a
// step lies.

#include "bitcycle/kernels/integer/linear.h"

#include "kernels/integer/isa/aligned.h"
#include "kernels/integer/isa/microkernels.h"

#include <vector>

namespace bitcycle::integer {

constexpr int products_per_step(Operands operands) {
  return operands == Operands::bytes ? 4 : 2;
}
constexpr int steps_of(int products, Operands operands) {
  return (products + products_per_step(operands) - 1) / products_per_step(operands);
}

// Rows whose sums of products of two 8-bit differences 32 bits hold.
inline constexpr int kSliceRows = 32768;
static_assert(std::int64_t{kSliceRows} * 255 * 255 <= 2147483647);

// One product's second operand, [panel][step][64 bytes].
struct PackedPanels {
  Operands operands = Operands::bytes;
  int lanes = 0;    // numbers that come out per row
  int reduced = 0;  // products per sum
  AlignedBuffer<std::uint8_t> data;
  std::vector<std::int32_t> lane_sums;  // bytes: of the codes in each lane

  int steps() const { return steps_of(reduced, operands); }
  std::ptrdiff_t panel_bytes() const { return std::ptrdiff_t{steps()} * kStepBytes; }
};

// What an integer of the weight gradient of an output is worth.
inline double gradient_factor(const LinearTerm& term, float weight_scale) {
  return double{term.input.params.scale} * term.errors.params.scale / weight_scale;
}

struct LinearWeights::State {
  LinearShape shape;
  int bits = kMaxBits;
  std::vector<float> scales;
  std::vector<float> offsets;  // padded with zeros to panels
  std::vector<std::int8_t> codes;
  PackedPanels forward;   // lanes are outputs
  PackedPanels backward;  // lanes are inputs
};

}  // namespace bitcycle::integer
