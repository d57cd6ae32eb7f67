#pragma once

// What the integer kernels take beyond the widths of kMinBits to kMaxBits.

namespace bitcycle::integer {

// Sums of 15 x 15 taps of 8-bit codes fit the depthwise kernels' registers.
inline constexpr int kMaxDepthwiseKernel = 15;

// A row's products of two 8-bit differences fit the 32-bit sums of backward-weights.
inline constexpr int kMaxRowOutputs = 32768;
static_assert(kMaxRowOutputs * 255LL * 255 <= 2147483647);

}  // namespace bitcycle::integer
