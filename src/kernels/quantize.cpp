#include "bitcycle/kernels/quantize.h"

#include "kernels/blocks.h"
#include "kernels/elementwise.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace bitcycle {
namespace {

// 64 KiB of floats: in L2 cache, and even, as the pairing of the noise needs.
constexpr std::int64_t kBlock = 16384;

std::int64_t count_of(std::span<const float> x) {
  return static_cast<std::int64_t>(x.size());
}

// Both ends stay at infinity when no value could be compared.
Range finite_or_zero(Range range) {
  return range.low <= range.high ? range : Range{0, 0};
}

}  // namespace

Grid make_grid(Range range, int bits) {
  assert(bits >= 1 && bits <= 32);
  const float levels = static_cast<float>(std::ldexp(1.0, bits) - 1.0);
  const float scale = (range.high - range.low) / levels;
  return {range.low, scale < 1e-8f ? 1e-8f : scale, levels};
}

Range range_of(std::span<const float> x) {
  const auto& kernels = elementwise_kernels();
  std::vector<Range> parts(block_count(count_of(x), kBlock), Range{0, 0});
  for_each_block(count_of(x), kBlock, [&](Block block) {
    parts[block.index] = kernels.range(x.data() + block.begin, block.size());
  });
  Range all{INFINITY, -INFINITY};
  for (const Range& part : parts) {
    all = {std::min(all.low, part.low), std::max(all.high, part.high)};
  }
  return finite_or_zero(all);
}

void quantize(std::span<const float> x, const Grid& grid, std::span<float> out) {
  assert(x.size() == out.size());
  const auto& kernels = elementwise_kernels();
  for_each_block(count_of(x), kBlock, [&](Block block) {
    kernels.quantize(x.data() + block.begin, block.size(), grid, out.data() + block.begin);
  });
}

void quantize_stochastic(std::span<const float> x, const Grid& grid, NoiseKey key,
                         std::span<float> out) {
  assert(x.size() == out.size());
  const auto& kernels = elementwise_kernels();
  for_each_block(count_of(x), kBlock, [&](Block block) {
    kernels.quantize_stochastic(x.data() + block.begin, block.size(), grid, key, block.begin,
                                out.data() + block.begin);
  });
}

void quantize_rows(std::span<const float> x, std::int64_t rows, int bits, std::span<float> out) {
  assert(rows > 0 && count_of(x) % rows == 0 && x.size() == out.size());
  const auto& kernels = elementwise_kernels();
  const std::int64_t length = count_of(x) / rows;
  for_each_block(count_of(x), length, [&](Block block) {
    const float* row = x.data() + block.begin;
    const Grid grid = make_grid(finite_or_zero(kernels.range(row, length)), bits);
    kernels.quantize(row, length, grid, out.data() + block.begin);
  });
}

}  // namespace bitcycle
