// Fully connected layers in terms of the drivers: what is quantized, and what the sums are worth.
// Note [Integer scheme] in docs/numerics.md has the equations.

#include "bitcycle/kernels/integer/linear.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/blocks.h"
#include "kernels/integer/linear/row_planes.h"
#include "kernels/integer/linear/row_product.h"
#include "kernels/integer/linear/sparse_errors.h"
#include "kernels/integer/weights/ends.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace bitcycle::integer {
namespace {

constexpr int kStatColumns = 256;  // whose sums stay in the first-level cache

CodeGrid rows_of(std::size_t values, int width) {
  assert(values % static_cast<std::size_t>(width) == 0);
  return {.batch = static_cast<int>(values / static_cast<std::size_t>(width)), .channels = width};
}

// Whether outputs can be trusted to be finite: whatever the codes are, they cannot overflow.
bool surely_finite(std::span<const float> scales, std::span<const float> offsets,
                   std::span<const float> shift, int inputs) {
  constexpr double kLimit = 0.5 * std::numeric_limits<float>::max();
  const double largest_box = 255.0 * inputs;
  double worst = 0;
  for (std::size_t o = 0; o < scales.size(); ++o) {
    const double sum = largest_box * (128.0 + std::abs(double{offsets[o]}));
    const double value = sum * scales[o] + (shift.empty() ? 0.0 : std::abs(double{shift[o]}));
    if (!(value < kLimit && sum < kLimit)) return false;
    worst = std::max(worst, value);
  }
  return worst < kLimit;
}

// What the planes are worth, added up.
void wide_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                         std::span<float> gradient) {
  const std::vector<RowPlane> planes = planes_of(errors);
  static thread_local AlignedBuffer<float> low;
  const float* added = low.reserve(gradient.size());
  linear_input_gradient(weights, planes[0].codes, gradient);
  linear_input_gradient(weights, planes[1].codes, {low.data(), gradient.size()});
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += added[i];
}

}  // namespace

std::size_t row_code_bytes(int rows, int width, int bits) {
  const CodeGrid grid{.batch = rows, .channels = width};
  return bits > kMaxBits ? wide_bytes(grid) : grid.bytes();
}

Range row_range(std::span<const float> x) {
  constexpr std::int64_t kBlock = 16384;
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<Range> parts(static_cast<std::size_t>(block_count(count, kBlock)));
  for_each_block(count, kBlock, [&](Block block) {
    parts[static_cast<std::size_t>(block.index)] = ends_of(
        x.subspan(static_cast<std::size_t>(block.begin), static_cast<std::size_t>(block.size())));
  });
  Range all = parts.empty() ? Range{0, 0} : parts.front();
  for (const Range& part : parts) {
    if (!finite(part)) return kPoisoned;
    all = {std::min(all.low, part.low), std::max(all.high, part.high)};
  }
  return all;
}

void quantize_rows(std::span<const float> x, int width, const CodeParams& params,
                   std::uint8_t* codes) {
  const CodeGrid grid = rows_of(x.size(), width);
  make_all(grid, ActivationCodes(grid, {.y = x.data()}, params), codes);
}

ErrorStats error_stats(std::span<const float> gradient, const LinearWeights& weights) {
  const int outputs = weights.shape().outputs;
  const CodeGrid grid = rows_of(gradient.size(), outputs);
  const auto size = static_cast<std::size_t>(outputs);
  ErrorStats stats{{0, 0}, std::vector<double>(size)};
  std::vector<float> low(size), high(size);
  const LinearKernels& kernels = *microkernels().linear;
#pragma omp parallel for schedule(dynamic, 1)
  for (int c = 0; c < outputs; c += kStatColumns) {
    kernels.column_stats(gradient.data() + c, outputs, grid.batch,
                         std::min(kStatColumns, outputs - c), stats.sums.data() + c, low.data() + c,
                         high.data() + c);
  }
  for (std::size_t o = 0; o < size; ++o) {
    const float scale = weights.scales()[o];
    // Note [Poison]: a NaN stays in the sum; so does an infinity.
    if (!std::isfinite(stats.sums[o]) || !finite(Range{scale * low[o], scale * high[o]})) {
      stats.range = kPoisoned;
      return stats;
    }
    stats.range = {std::min(stats.range.low, scale * low[o]),
                   std::max(stats.range.high, scale * high[o])};
  }
  return stats;
}

void quantize_errors(std::span<const float> gradient, const LinearWeights& weights,
                     const CodeParams& params, NoiseKey noise, std::uint8_t* codes) {
  const CodeGrid grid = rows_of(gradient.size(), weights.shape().outputs);
  const ErrorSource source{.source = {.gradient = gradient.data()}, .a = weights.scales()};
  (is_wide(params) ? make_all_wide : make_all)(grid, ErrorCodes(grid, source, params, noise),
                                               codes);
}

void linear_forward(const LinearWeights& weights, const RowCodes& input,
                    std::span<const float> bias, std::span<float> output) {
  const auto outputs = static_cast<std::size_t>(weights.shape().outputs);
  std::vector<float> scales(weights.scales().begin(), weights.scales().end());
  for (float& scale : scales) scale *= input.params.scale;
  const std::vector<float> zeros(bias.empty() ? outputs : 0);
  multiply({.rows = input,
            .panels = weights.state().forward,
            .box_weights = {},
            .offset = weights.offsets(),
            .scale = scales,
            .shift = bias.empty() ? std::span<const float>(zeros) : bias,
            .out = output});
  if (surely_finite(scales, weights.offsets(), bias, weights.shape().inputs)) return;
  if (!all_finite(output)) std::ranges::fill(output, kNaN);
}

void linear_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                           std::span<float> gradient) {
  if (is_wide(errors.params)) return wide_input_gradient(weights, errors, gradient);
  if (errors.width <= kMaxProducts && mostly_zero(errors)) {
    return sparse_input_gradient(weights, errors, gradient);
  }
  const auto inputs = static_cast<std::size_t>(weights.shape().inputs);
  const std::vector<float> ones(inputs, 1.0f), scales(inputs, errors.params.scale);
  multiply({.rows = errors,
            .panels = weights.state().backward,
            .box_weights = weights.state().offsets,
            .offset = ones,
            .scale = scales,
            .shift = {},
            .out = gradient});
}

}  // namespace bitcycle::integer
