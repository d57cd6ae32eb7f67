#pragma once

// Simulated quantization in float: one pass to find a range, one pass to round every value to a
// grid of 2^b levels (spec of the SBM scheme in docs/numerics.md). Values are computed exactly as
// written there, operation by operation, so every instruction set and thread count gives the same
// bytes.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/range.h"

#include <cstdint>
#include <span>

namespace bitcycle {

// The values low, low + scale, ..., low + levels * scale.
struct Grid {
  float low = 0;
  float scale = 1;
  float levels = 1;  // 2^bits - 1
};

// scale = max((high - low) / (2^bits - 1), 1e-8): a constant tensor survives exactly. bits
// in 1..32.
Grid make_grid(Range range, int bits);

// NaNs are passed over; an empty span gives {0, 0}.
Range range_of(std::span<const float> x);

// out[i] = low + scale * rne(clamp((x[i] - low) / scale, 0, levels)); NaN stays NaN. `out` may be
// `x`.
void quantize(std::span<const float> x, const Grid& grid, std::span<float> out);

// The same with noise(key, i) added before the clamp: unbiased between the end points.
void quantize_stochastic(std::span<const float> x, const Grid& grid, NoiseKey key,
                         std::span<float> out);

// Quantizes each of the `rows` equal parts of x on a grid of its own range (weights, one row an
// output channel).
void quantize_rows(std::span<const float> x, std::int64_t rows, int bits, std::span<float> out);

}  // namespace bitcycle
