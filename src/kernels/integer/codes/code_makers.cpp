#include "bitcycle/kernels/integer/code_makers.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/codes/halo.h"
#include "kernels/integer/passes/pass_plans.h"

#include <cassert>
#include <cmath>

namespace bitcycle::integer {
namespace {

void scale_by(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

// Makes the jobs give code values instead of x: x / scale + zero point, before rounding.
ActivationPlan folded(ActivationPlan plan, const CodeParams& params) {
  scale_by(plan.scale, params.inverse_scale);
  const auto zero = static_cast<float>(params.zero_point);
  for (float& value : plan.shift) value = std::fma(value, params.inverse_scale, zero);
  plan.floor = plan.source.activation == Rectify::relu ? zero : 0.0f;
  return plan;
}

}  // namespace

CodeParams code_params(Range range, int bits) {
  assert(bits >= kMinBits && bits <= kMaxErrorBits);
  CodeParams params;
  params.bits = bits;
  const auto levels = static_cast<float>(params.largest_code());
  const float low = std::min(range.low, 0.0f);
  const float high = std::max(range.high, 0.0f);
  // A tensor of zeros has no scale of its own; any will do, and 1 keeps everything finite.
  const float scale = (high - low) / levels;
  if (!finite(range) || !std::isfinite(scale)) {  // Note [Poison]
    params.scale = params.inverse_scale = kNaN;
    return params;
  }
  params.scale = scale > 0.0f ? scale : 1.0f;
  params.inverse_scale = 1.0f / params.scale;
  if (!std::isfinite(params.inverse_scale)) {  // subnormal scale: every value rounds to 0
    params.scale = params.inverse_scale = 1.0f;
  }
  const float zero = std::nearbyint(-low * params.inverse_scale);
  params.zero_point = static_cast<int>(std::min(levels, std::max(0.0f, zero)));
  return params;
}

ActivationCodes::ActivationCodes(const CodeGrid& grid, const ActivationSource& source,
                                 const CodeParams& params)
    : plan_(std::make_unique<ActivationPlan>(folded({grid, source}, params))), params_(params) {
  assert(!source.residual);
}
ActivationCodes::~ActivationCodes() = default;

void ActivationCodes::make(int image, std::uint8_t* codes) const {
  fill_halo(plan_->grid, params_.zero_point, codes);
  ActivateJob job = plan_->image(image);
  job.params = params_;
  job.codes = codes;
  passes().quantize[index(plan_->source.y.type)](job);
}

struct ErrorPlan {
  GradientPlan gradient;
  std::vector<float> a, b, c;

  ErrorPlan(const CodeGrid& grid, const ErrorSource& s, const CodeParams& params)
      : gradient(grid, s.source),
        a(to_panels(s.a, grid.channels)),
        b(to_panels(s.b, grid.channels)),
        c(to_panels(s.c, grid.channels)) {
    fold(params);
  }
  // Makes the jobs give code values instead of errors, less the noise's centre.
  void fold(const CodeParams& params) {
    scale_by(a, params.inverse_scale);
    scale_by(b, params.inverse_scale);
    const float centre = static_cast<float>(params.zero_point) - kNoiseCentre * kNoiseStep;
    for (float& value : c) value = std::fma(value, params.inverse_scale, centre);
  }
  GradientJob image(int n, const CodeParams& params, NoiseKey key) const {
    GradientJob job = gradient.image(n);
    job.a = a.data();
    job.b = b.data();
    job.c = c.data();
    job.params = params;
    job.key = key;
    job.first_element = n * image_elements(gradient.grid);
    return job;
  }
};

ErrorCodes::ErrorCodes(const CodeGrid& grid, const ErrorSource& source, const CodeParams& params,
                       NoiseKey key)
    : plan_(std::make_unique<ErrorPlan>(grid, source, params)), params_(params), key_(key) {}
ErrorCodes::~ErrorCodes() = default;

void ErrorCodes::make(int image, std::uint8_t* codes) const {
  assert(!is_wide(params_));
  fill_halo(plan_->gradient.grid, params_.zero_point, codes);
  GradientJob job = plan_->image(image, params_, key_);
  job.codes = codes;
  passes().quantize_errors[index(plan_->gradient.source.gradient.type)](job);
}

void ErrorCodes::make_wide(int image, std::uint8_t* high, std::uint8_t* low) const {
  assert(is_wide(params_));
  fill_halo(plan_->gradient.grid, high_plane(params_).params.zero_point, high);
  fill_halo(plan_->gradient.grid, low_plane(params_).params.zero_point, low);
  GradientJob job = plan_->image(image, params_, key_);
  job.codes = high;
  job.low_codes = low;
  passes().quantize_wide_errors[index(plan_->gradient.source.gradient.type)](job);
}

void make_all(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes) {
  each_image(grid, [&](int n) { maker.make(n, codes + n * grid.image_bytes()); });
}

void make_all_wide(const CodeGrid& grid, const CodeMaker& maker, std::uint8_t* codes) {
  const std::ptrdiff_t each = grid.image_bytes();
  each_image(grid,
             [&](int n) { maker.make_wide(n, codes + n * each, codes + (grid.batch + n) * each); });
}

std::size_t wide_bytes(const CodeGrid& grid) {
  return 2 * static_cast<std::size_t>(grid.batch * grid.image_bytes()) + kCodeSlack;
}

}  // namespace bitcycle::integer
