#include "quant/observe_unit.h"

#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/code_planes.h"

#include "quant/dense.h"
#include "quant/observe.h"
#include "quant/real_view.h"

#include <algorithm>

namespace bitcycle {
namespace {

double real_at(const integer::RealView& view, std::int64_t i) {
  if (view.type == integer::Real::f32) return static_cast<const float*>(view.data)[i];
  return static_cast<float>(static_cast<const at::Half*>(view.data)[i]);
}

// Where the codes of a picture without its halo lie among those with it.
std::int64_t with_halo(const integer::CodeGrid& grid, std::int64_t element) {
  const std::int64_t row = std::int64_t{grid.width} * grid.channels;
  return (element / row + grid.halo) * grid.row_bytes() + std::int64_t{grid.halo} * grid.channels +
         element % row;
}

// The kind of a picture; null where all are alike.
const SampleKind* kind_of(const UnitState& state, int image) {
  const auto found = std::ranges::find_if(state.kinds, [&](const SampleKind& kind) {
    return std::ranges::binary_search(kind.samples, image);
  });
  return found == state.kinds.end() ? nullptr : &*found;
}

// Calls look(image, number of its first element) for the pictures that are looked at.
template <typename Look>
void each_image(const integer::CodeGrid& grid, const Look& look) {
  const std::int64_t size = grid.elements() / grid.batch;
  const std::int64_t step = row_step(grid.batch, size);
  for (std::int64_t i = 0; i < grid.batch; i += step) look(static_cast<int>(i), i * size);
}

// One picture's codes of any width.
class PictureCodes {
 public:
  PictureCodes(const integer::CodeGrid& grid, const integer::CodeParams& params)
      : grid_(grid), params_(params), bytes_(grid.image_bytes() * 2 + integer::kCodeSlack) {}

  void make(const integer::CodeMaker& maker, int image) {
    integer::is_wide(params_) ? maker.make_wide(image, bytes_.data(), low())
                              : maker.make(image, bytes_.data());
  }
  double code(std::int64_t element) const {
    const std::int64_t at = with_halo(grid_, element);
    if (!integer::is_wide(params_)) return bytes_[static_cast<std::size_t>(at)];
    return bytes_[static_cast<std::size_t>(at)] * double(integer::high_plane(params_).worth) +
           bytes_[static_cast<std::size_t>(grid_.image_bytes() + at)];
  }
  double value(double code) const { return params_.scale * (code - params_.zero_point); }

 private:
  std::uint8_t* low() { return bytes_.data() + grid_.image_bytes(); }

  integer::CodeGrid grid_;
  integer::CodeParams params_;
  std::vector<std::uint8_t> bytes_;
};

double coefficient(std::span<const float> values, std::size_t channel, double otherwise) {
  return values.empty() ? otherwise : values[channel];
}

void observe_input(const UnitState& state, const integer::ActivationSource& input,
                   const integer::CodeMaker& finest) {
  const integer::CodeGrid grid = state.call.shape.input_grid();
  TensorStatistics& to = with_range(state.call.observed->activation, state.call.input_range);
  const std::int64_t size = grid.elements() / grid.batch;
  each_image(grid, [&](int image, std::int64_t) {
    const SampleKind* kind = kind_of(state, image);
    const std::int64_t first = input.y.row(image) * size;
    const integer::CodeParams& params = kind == nullptr ? state.input : kind->input;
    PictureCodes codes(grid, params);
    codes.make(integer::NestedCodes(grid, finest, state.input, params), image);
    add_values(to, params.bits, size, [&](std::int64_t i) {
      const auto channel = static_cast<std::size_t>(i % grid.channels);
      double x = real_at(input.y, first + i) * coefficient(input.scale, channel, 1) +
                 coefficient(input.shift, channel, 0);
      if (input.activation == integer::Rectify::relu) x = std::max(x, 0.0);
      const double code = codes.code(i);
      return SeenValue{x, codes.value(code), code};
    });
  });
}

// Coefficients of errors as the layer has them, without the weight scales and in their own scale.
struct PlainErrors {
  std::vector<float> a, b, c;

  PlainErrors(const integer::ErrorSource& errors, std::span<const float> scales,
              float gradient_scale) {
    const auto plain = [&](std::span<const float> folded) {
      std::vector<float> values(folded.begin(), folded.end());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] /= scales[i] * gradient_scale;
      return values;
    };
    a = plain(errors.a);
    b = plain(errors.b);
    c = plain(errors.c);
  }
};

}  // namespace

void observe_forward(const UnitState& state, const at::Tensor& weight,
                     const integer::ActivationSource& input, const integer::CodeMaker& finest) {
  if (state.call.observed == nullptr) return;
  const integer::ConvWeights& weights = *state.call.weights;
  const at::Tensor source = dense(weight);
  observe_weights(state.call.observed->weight, {.values = values(source),
                                                .codes = weights.codes(),
                                                .scales = weights.scales(),
                                                .offsets = weights.offsets(),
                                                .bits = weights.bits()});
  observe_input(state, input, finest);
}

void observe_backward(const UnitState& state, const UnitTensors& saved,
                      const integer::ErrorSource& errors, const integer::GradientSums& sums,
                      Range range) {
  if (state.call.observed == nullptr) return;
  const integer::CodeGrid grid = state.call.shape.error_grid();
  const std::span<const float> scales = state.call.weights->scales();
  const PlainErrors plain(errors, scales, state.gradient_scale);
  const integer::ErrorSource plain_source{errors.source, plain.a, plain.b, plain.c};
  TensorStatistics& to =
      with_range(state.call.observed->error, error_bounds(sums, state.stats, plain_source));
  // The gradient that the errors are made of, gated and added up. The pass wants as many means as
  // channels, for sums that nobody reads here.
  const at::Tensor gradient = at::empty_like(saved.y);
  integer::GradientPass pass(grid, errors.source, state.norm.mean, mutable_view_of(gradient));
  each_image(grid, [&](int image, std::int64_t first) {
    pass.run(image);
    const SampleKind* kind = kind_of(state, image);
    const integer::CodeParams params =
        integer::code_params(range, kind == nullptr ? state.call.bits.error : kind->error_bits);
    PictureCodes codes(grid, params);
    codes.make(integer::ErrorCodes(grid, errors, params, state.call.noise), image);
    add_values(to, params.bits, grid.elements() / grid.batch, [&](std::int64_t i) {
      const auto channel = static_cast<std::size_t>(i % grid.channels);
      double x = plain.a[channel] * real_at(view_of(gradient), first + i) +
                 coefficient(plain.c, channel, 0);
      if (!plain.b.empty()) x += plain.b[channel] * real_at(errors.source.y, first + i);
      const double code = codes.code(i);
      const double folded = double{scales[channel]} * state.gradient_scale;
      return SeenValue{x, codes.value(code) / folded, code};
    });
  });
}

}  // namespace bitcycle
