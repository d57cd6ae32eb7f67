#pragma once

// What the integer kernels take, said once: backends, units and the kernels themselves ask here.

#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/layer_info.h"

#include <string>

namespace bitcycle::integer {

constexpr bool takes_width(int bits) {
  return bits >= kMinBits && bits <= kMaxBits;
}
// Errors may be wider (Note [Wide errors] in code_planes.h).
constexpr bool takes_error_width(int bits) {
  return bits >= kMinBits && bits <= kMaxErrorBits;
}
constexpr bool takes_widths(LayerBits bits) {
  return takes_width(bits.weight) && takes_width(bits.activation) && takes_error_width(bits.error);
}

// Why the kernels do not take a layer's bits, as an end to "layer conv1 has ...": "9-bit weights".
// Empty where they take them.
std::string obstacle(LayerBits bits);

// A convolution as somebody may ask for it; a ConvShape is one that the kernels take. Fully
// connected layers (linear.h) are taken at all sizes.
using ConvRequest = LayerGeometry;

// Why the kernels do not take a convolution, as an end to "layer conv1 has ...": "a dilation of 2".
// Empty where they take it.
std::string obstacle(const ConvRequest& request);
// Throws Error(usage) with that reason where there is one.
void expect_taken(const ConvShape& shape);

}  // namespace bitcycle::integer
