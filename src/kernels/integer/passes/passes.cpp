// Drives the fused passes: one image a work item, partial results combined in the order of images.

#include "bitcycle/kernels/integer/passes.h"

#include "bitcycle/kernels/finite.h"

#include "kernels/integer/passes/pass_plans.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace bitcycle::integer {
namespace {

// A convolution's extreme, rounded the way its output was stored.
float stored_as(Real type, float y) {
  return type == Real::f16 ? to_float(to_half(y)) : y;
}

Range stored_as(Real type, Range range) {
  return {stored_as(type, range.low), stored_as(type, range.high)};
}

}  // namespace

Range merged(std::span<const Range> ranges) {
  Range all{kInfinity, -kInfinity};
  for (const Range& r : ranges) {
    if (!finite(r)) return kPoisoned;
    all.low = std::min(all.low, r.low);
    all.high = std::max(all.high, r.high);
  }
  return all;
}

std::size_t mask_bytes(const CodeGrid& grid) {
  return static_cast<std::size_t>(grid.batch) * static_cast<std::size_t>(grid.height) *
         static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(panels_of(grid.channels)) *
         2;
}

bool finite(const ChannelStats& stats, Real type) {
  const auto stored = [type](float y) { return std::isfinite(stored_as(type, y)); };
  const auto known = [](double sum) { return std::isfinite(sum); };
  return std::ranges::all_of(stats.sum, known) &&
         std::ranges::all_of(stats.sum_of_squares, known) &&
         std::ranges::all_of(stats.low, stored) && std::ranges::all_of(stats.high, stored);
}

bool finite(const GradientSums& sums) {
  const auto known = [](double sum) { return std::isfinite(sum); };
  return std::ranges::all_of(sums.gradient, known) && std::ranges::all_of(sums.deviation, known);
}

Range activation_range(const ChannelStats& stats, const ActivationSource& source) {
  assert(!source.residual);
  Range all{kInfinity, -kInfinity};
  const float floor = source.activation == Rectify::relu ? 0.0f : -kInfinity;
  const auto stored = [&](float y) { return stored_as(source.y.type, y); };
  for (std::size_t c = 0; c < stats.low.size(); ++c) {
    for (const float y : {stored(stats.low[c]), stored(stats.high[c])}) {
      const float scale = source.scale.empty() ? 1.0f : source.scale[c];
      const float shift = source.shift.empty() ? 0.0f : source.shift[c];
      const float normed = std::fma(y, scale, shift);
      if (!std::isfinite(normed)) return kPoisoned;
      const float x = std::max(normed, floor);
      all.low = std::min(all.low, x);
      all.high = std::max(all.high, x);
    }
  }
  return all;
}

Range activate(const CodeGrid& grid, const ActivationSource& source, MutableReal output,
               std::uint8_t* mask, std::span<Range> of_images) {
  assert(!output || output.type == source.y.type);
  const ActivationPlan plan(grid, source);
  std::vector<Range> ranges(static_cast<std::size_t>(grid.batch));
  each_image(grid, [&](int n) {
    ActivateJob job = plan.image(n);
    job.output = image_of(output, grid, n);
    if (mask != nullptr) job.mask = mask + mask_offset(grid, n);
    ranges[static_cast<std::size_t>(n)] = passes().activate[index(source.y.type)](job);
  });
  const auto stored = [&](Range range) { return stored_as(source.y.type, range); };
  if (!of_images.empty()) std::ranges::transform(ranges, of_images.begin(), stored);
  const Range range = merged(ranges);
  return finite(stored(range)) ? range : kPoisoned;
}

GradientPass::GradientPass(const CodeGrid& grid, const GradientSource& source,
                           std::span<const float> mean, MutableReal output)
    : plan_(std::make_unique<GradientPlan>(grid, source)),
      means_(to_panels(mean, grid.channels)),
      output_(output),
      partial_size_(4 * means_.size()),
      partial_(static_cast<std::size_t>(grid.batch) * partial_size_) {}
GradientPass::~GradientPass() = default;

void GradientPass::run(int image) {
  GradientJob job = plan_->image(image);
  job.mean = means_.data();
  job.output = image_of(output_, plan_->grid, image);
  job.sums = partial_.data() + static_cast<std::size_t>(image) * partial_size_;
  passes().gradient_sums[index(plan_->source.gradient.type)](job);
}

GradientSums GradientPass::sums() const {
  const auto channels = static_cast<std::size_t>(plan_->grid.channels);
  const std::size_t width = means_.size();
  GradientSums sums{std::vector<double>(channels), std::vector<double>(channels),
                    std::vector<float>(channels), std::vector<float>(channels)};
  for (std::size_t at = 0; at < partial_.size(); at += partial_size_) {
    const float* own = partial_.data() + at;
    for (std::size_t c = 0; c < channels; ++c) {
      sums.gradient[c] += own[c];
      sums.deviation[c] += own[width + c];
      sums.low[c] = std::min(sums.low[c], own[2 * width + c]);
      sums.high[c] = std::max(sums.high[c], own[3 * width + c]);
    }
  }
  return sums;
}

GradientSums gradient_sums(const CodeGrid& grid, const GradientSource& source,
                           std::span<const float> mean, MutableReal output) {
  GradientPass pass(grid, source, mean, output);
  each_image(grid, [&](int n) { pass.run(n); });
  return pass.sums();
}

Range error_bounds(const GradientSums& sums, const ChannelStats& stats, const ErrorSource& source) {
  if (!finite(sums)) return kPoisoned;
  Range all{kInfinity, -kInfinity};
  const auto stored = [&](float y) { return stored_as(source.source.y.type, y); };
  const auto product = [](float factor, float low, float high) {
    return Range{std::min(factor * low, factor * high), std::max(factor * low, factor * high)};
  };
  for (std::size_t c = 0; c < source.a.size(); ++c) {
    const Range g = product(source.a[c], sums.low[c], sums.high[c]);
    Range y;
    if (!source.b.empty()) {
      y = product(source.b[c], stored(stats.low[c]), stored(stats.high[c]));
      y = {y.low + source.c[c], y.high + source.c[c]};
    }
    const Range e{g.low + y.low, g.high + y.high};
    if (!finite(e)) return kPoisoned;
    all = {std::min(all.low, e.low), std::max(all.high, e.high)};
  }
  return all;
}

}  // namespace bitcycle::integer
