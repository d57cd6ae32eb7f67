#pragma once

// Note [Wide errors]: the kernels multiply bytes. A code of 9 to 16 bits is made of two that are
// narrower, with l = bits / 2 (rounded down) bits in the low one,
//
//   code = 2^l high + low,   zero point = 2^l z_high + z_low,
//
// so that code - zero point = 2^l (high - z_high) + (low - z_low): a product with it is that with
// the high codes at 2^l times the scale plus that with the low ones. Halves of equal width rather
// than bytes, because the fewer bits, the longer the chains of sums (Note [Exact dot products]).
// In memory all high codes lie before all low ones, each plane as codes of its width lie.

#include "bitcycle/kernels/integer/tensor.h"

#include <vector>

namespace bitcycle::integer {

constexpr bool is_wide(const CodeParams& params) {
  return params.bits > kMaxBits;
}
constexpr int low_plane_bits(const CodeParams& params) {
  return params.bits / 2;
}

struct CodePlane {
  CodeParams params;
  int worth = 1;  // of one code, in codes of all planes together
};

constexpr CodePlane high_plane(const CodeParams& wide) {
  const int low_bits = low_plane_bits(wide);
  const int worth = 1 << low_bits;
  return {{.scale = wide.scale * static_cast<float>(worth),
           .inverse_scale = wide.inverse_scale / static_cast<float>(worth),
           .zero_point = wide.zero_point >> low_bits,
           .bits = wide.bits - low_bits},
          worth};
}
constexpr CodePlane low_plane(const CodeParams& wide) {
  const int low_bits = low_plane_bits(wide);
  return {{.scale = wide.scale,
           .inverse_scale = wide.inverse_scale,
           .zero_point = wide.zero_point & ((1 << low_bits) - 1),
           .bits = low_bits},
          1};
}

// The high plane, then the low one; codes of up to 8 bits are one plane.
inline std::vector<CodePlane> planes_of(const CodeParams& params) {
  if (!is_wide(params)) return {{params}};
  return {high_plane(params), low_plane(params)};
}

}  // namespace bitcycle::integer
