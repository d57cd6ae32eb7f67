#pragma once

// What the integer kernels take beyond the widths of kMinBits to kMaxBits.

namespace bitcycle::integer {

// Sums of 15 x 15 taps of 8-bit codes fit the depthwise kernels' registers.
inline constexpr int kMaxDepthwiseKernel = 15;

}  // namespace bitcycle::integer
