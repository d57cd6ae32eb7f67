// Drives the fused passes: one image a work item, partial results combined in the order of images.

#include "bitcycle/kernels/integer/passes.h"

#include "kernels/integer/halo.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/pass_kernels.h"
#include "kernels/integer/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace bitcycle::integer {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const PassKernels& passes() {
  return *microkernels().passes;
}
int index(Real type) {
  return static_cast<int>(type);
}

std::vector<float> to_panels(std::span<const float> values, int channels, float otherwise) {
  std::vector<float> out(static_cast<std::size_t>(padded(channels)), otherwise);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

void scale_by(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

// The part of a tensor that belongs to image n; null stays null.
template <typename View>
auto image_of(View view, const CodeGrid& grid, int n) -> decltype(view.data) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>,
                                  const char, char>;
  if (view.data == nullptr) return nullptr;
  const std::ptrdiff_t size = view.type == Real::f16 ? 2 : 4;
  return static_cast<Byte*>(view.data) +
         n * size * (std::ptrdiff_t{grid.height} * grid.width * grid.channels);
}

Range merged(std::span<const Range> ranges) {
  Range all{kInfinity, -kInfinity};
  for (const Range& r : ranges) {
    all.low = std::min(all.low, r.low);
    all.high = std::max(all.high, r.high);
  }
  return all;
}

// A convolution's extreme, rounded the way its output was stored.
float stored_as(Real type, float y) {
  return type == Real::f16 ? to_float(to_half(y)) : y;
}

// Runs work(n) for every image on the threads.
template <typename Work>
void each_image(const CodeGrid& grid, Work work) {
#pragma omp parallel for schedule(static)
  for (int n = 0; n < grid.batch; ++n) work(n);
}

template <typename Work>
Range range_of_images(const CodeGrid& grid, Work work) {
  std::vector<Range> ranges(static_cast<std::size_t>(grid.batch));
  each_image(grid, [&](int n) { ranges[static_cast<std::size_t>(n)] = work(n); });
  return merged(ranges);
}

// Owns the padded coefficients that jobs point to.
struct ActivationPlan {
  CodeGrid grid;
  const ActivationSource& source;
  std::vector<float> scale, shift;
  float floor;

  ActivationPlan(const CodeGrid& g, const ActivationSource& s)
      : grid(g),
        source(s),
        scale(to_panels(s.scale, g.channels, s.scale.empty() ? 1.0f : 0.0f)),
        shift(to_panels(s.shift, g.channels, 0.0f)),
        floor(s.activation == Rectify::relu ? 0.0f : -kInfinity) {
    assert(!s.residual || s.residual.type == s.y.type);
  }
  // Makes the jobs give code values instead of x: x / scale + zero point, before rounding.
  void fold(const CodeParams& params) {
    scale_by(scale, params.inverse_scale);
    const auto zero = static_cast<float>(params.zero_point);
    for (float& value : shift) value = std::fma(value, params.inverse_scale, zero);
    floor = source.activation == Rectify::relu ? zero : 0.0f;
  }
  ActivateJob image(int n) const {
    ActivateJob job{};
    job.grid = grid;
    job.y = image_of(source.y, grid, n);
    job.residual = image_of(source.residual, grid, n);
    job.scale = scale.data();
    job.shift = shift.data();
    job.floor = floor;
    return job;
  }
};

struct GradientPlan {
  CodeGrid grid;
  const GradientSource& source;
  std::vector<float> scale, shift;

  GradientPlan(const CodeGrid& g, const GradientSource& s)
      : grid(g),
        source(s),
        scale(to_panels(s.scale, g.channels, 0.0f)),
        shift(to_panels(s.shift, g.channels, 0.0f)) {
    assert(!s.residual || s.residual.type == s.gradient.type);
    assert(!s.y || s.y.type == s.gradient.type);
  }
  GradientJob image(int n) const {
    GradientJob job{};
    job.grid = grid;
    job.gradient = image_of(source.gradient, grid, n);
    job.residual = image_of(source.residual, grid, n);
    job.y = image_of(source.y, grid, n);
    if (source.mask != nullptr) {
      const auto each = mask_bytes(grid) / static_cast<std::size_t>(grid.batch);
      job.mask = source.mask + static_cast<std::size_t>(n) * each;
    }
    job.scale = source.scale.empty() ? nullptr : scale.data();
    job.shift = shift.data();
    return job;
  }
};

struct ErrorPlan {
  GradientPlan gradient;
  std::vector<float> a, b, c;

  ErrorPlan(const CodeGrid& grid, const ErrorSource& s)
      : gradient(grid, s.source),
        a(to_panels(s.a, grid.channels, 0.0f)),
        b(to_panels(s.b, grid.channels, 0.0f)),
        c(to_panels(s.c, grid.channels, 0.0f)) {}
  // Makes the jobs give code values instead of errors, less the noise's centre.
  void fold(const CodeParams& params) {
    scale_by(a, params.inverse_scale);
    scale_by(b, params.inverse_scale);
    const float centre = static_cast<float>(params.zero_point) - kNoiseCentre * kNoiseStep;
    for (float& value : c) value = std::fma(value, params.inverse_scale, centre);
  }
  GradientJob image(int n) const {
    GradientJob job = gradient.image(n);
    job.a = a.data();
    job.b = b.data();
    job.c = c.data();
    return job;
  }
};

}  // namespace

std::size_t mask_bytes(const CodeGrid& grid) {
  return static_cast<std::size_t>(grid.batch) * static_cast<std::size_t>(grid.height) *
         static_cast<std::size_t>(grid.width) * static_cast<std::size_t>(panels_of(grid.channels)) *
         2;
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
      const float x = std::max(std::fma(y, scale, shift), floor);
      all.low = std::min(all.low, x);
      all.high = std::max(all.high, x);
    }
  }
  return all;
}

Range activate(const CodeGrid& grid, const ActivationSource& source, MutableReal output,
               std::uint8_t* mask) {
  assert(!output || output.type == source.y.type);
  const ActivationPlan plan(grid, source);
  return range_of_images(grid, [&](int n) {
    ActivateJob job = plan.image(n);
    job.output = image_of(output, grid, n);
    if (mask != nullptr) {
      const auto each = mask_bytes(grid) / static_cast<std::size_t>(grid.batch);
      job.mask = mask + static_cast<std::size_t>(n) * each;
    }
    return passes().activate[index(source.y.type)](job);
  });
}

void quantize(const CodeGrid& grid, const ActivationSource& source, const CodeParams& params,
              std::uint8_t* codes) {
  assert(!source.residual);
  ActivationPlan plan(grid, source);
  plan.fold(params);
  each_image(grid, [&](int n) {
    ActivateJob job = plan.image(n);
    job.params = params;
    job.codes = codes + n * grid.image_bytes();
    fill_halo(grid, params.zero_point, job.codes);
    passes().quantize[index(source.y.type)](job);
  });
}

GradientSums gradient_sums(const CodeGrid& grid, const GradientSource& source,
                           std::span<const float> mean, MutableReal output) {
  const GradientPlan plan(grid, source);
  const std::vector<float> means = to_panels(mean, grid.channels, 0.0f);
  const auto width = static_cast<std::size_t>(padded(grid.channels));
  std::vector<float> partial(static_cast<std::size_t>(grid.batch) * 4 * width);
  each_image(grid, [&](int n) {
    GradientJob job = plan.image(n);
    job.mean = means.data();
    job.output = image_of(output, grid, n);
    job.sums = partial.data() + static_cast<std::size_t>(n) * 4 * width;
    passes().gradient_sums[index(source.gradient.type)](job);
  });
  const auto channels = static_cast<std::size_t>(grid.channels);
  GradientSums sums{std::vector<double>(channels), std::vector<double>(channels),
                    std::vector<float>(channels), std::vector<float>(channels)};
  for (std::size_t n = 0; n < static_cast<std::size_t>(grid.batch); ++n) {
    const float* own = partial.data() + n * 4 * width;
    for (std::size_t c = 0; c < channels; ++c) {
      sums.gradient[c] += own[c];
      sums.deviation[c] += own[width + c];
      sums.low[c] = std::min(sums.low[c], own[2 * width + c]);
      sums.high[c] = std::max(sums.high[c], own[3 * width + c]);
    }
  }
  return sums;
}

Range error_bounds(const GradientSums& sums, const ChannelStats& stats, const ErrorSource& source) {
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
    all = {std::min(all.low, g.low + y.low), std::max(all.high, g.high + y.high)};
  }
  return all;
}

void quantize_errors(const CodeGrid& grid, const ErrorSource& source, const CodeParams& params,
                     NoiseKey key, std::uint8_t* codes) {
  ErrorPlan plan(grid, source);
  plan.fold(params);
  each_image(grid, [&](int n) {
    GradientJob job = plan.image(n);
    job.params = params;
    job.key = key;
    job.first_element = std::int64_t{n} * grid.height * grid.width * grid.channels;
    job.codes = codes + n * grid.image_bytes();
    fill_halo(grid, params.zero_point, job.codes);
    passes().quantize_errors[index(source.source.gradient.type)](job);
  });
}

}  // namespace bitcycle::integer
