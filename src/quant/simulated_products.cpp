// The products of the integer scheme by other means: LibTorch convolves the codes as floating-point
// numbers, in single precision where every sum stays below 2^24 and in double otherwise, so the
// sums are exact. What follows them is docs/numerics.md written out in scalar code.

#include "bitcycle/kernels/integer/code_makers.h"
#include "bitcycle/kernels/integer/code_planes.h"
#include "bitcycle/quant/torch.h"

#include "quant/conv_products.h"
#include "quant/simulated_results.h"

#include <cmath>
#include <cstring>
#include <numeric>

namespace bitcycle {
namespace {

using integer::CodeGrid;
using integer::Codes;
using integer::ConvShape;
using integer::ConvWeights;
using integer::ImageCodes;

constexpr double kExactInSingle = 16777216.0;  // 2^24

at::ScalarType exact_type(double largest_sum) {
  return largest_sum < kExactInSingle ? at::kFloat : at::kDouble;
}

double largest_code(const Codes& codes) {
  return codes.params.largest_code();
}
double largest_weight(const ConvWeights& weights) {
  return 1 << (weights.bits() - 1);
}

// The codes of all images in memory; errors of more than 8 bits are in two planes (Note [Wide
// errors] in bitcycle/kernels/integer/code_planes.h).
struct CodeTensor {
  at::Tensor buffer;
  Codes codes;

  CodeTensor(const Codes& from, const CodeGrid& grid)
      : buffer(at::empty({bytes(from, grid)}, at::kByte)),
        codes{buffer.data_ptr<std::uint8_t>(), from.params} {
    const auto make = is_wide(from.params) ? integer::make_all_wide : integer::make_all;
    make(grid, *from.maker, buffer.data_ptr<std::uint8_t>());
  }
  static std::int64_t bytes(const Codes& from, const CodeGrid& grid) {
    return static_cast<std::int64_t>(is_wide(from.params) ? wide_bytes(grid) : grid.bytes());
  }
};

// Some images of a batch as a batch of their own.
class PickedImages : public integer::CodeMaker {
 public:
  PickedImages(const Codes& from, std::span<const int> images) : from_(from), images_(images) {}
  void make(int picked, std::uint8_t* codes) const override {
    from_.maker->make(image(picked), codes);
  }
  void make_wide(int picked, std::uint8_t* high, std::uint8_t* low) const override {
    from_.maker->make_wide(image(picked), high, low);
  }

  Codes codes() const { return {nullptr, from_.params, this}; }
  int image(std::int64_t picked) const { return images_[static_cast<std::size_t>(picked)]; }
  ConvShape shape(ConvShape of) const {
    of.batch = static_cast<int>(images_.size());
    return of;
  }

 private:
  Codes from_;
  std::span<const int> images_;
};

std::vector<int> all_images(const ConvShape& s) {
  std::vector<int> all(static_cast<std::size_t>(s.batch));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Codes> code_planes(const CodeGrid& grid, const Codes& codes) {
  std::vector<Codes> planes;
  const std::uint8_t* data = codes.data;
  for (const integer::CodePlane& plane : planes_of(codes.params)) {
    planes.push_back({data, plane.params});
    data += grid.batch * grid.image_bytes();
  }
  return planes;
}

// code - zero point as [batch, channels, height, width], halo included.
at::Tensor differences(const CodeGrid& grid, const Codes& codes, at::ScalarType type) {
  const at::Tensor bytes = at::from_blob(
      const_cast<std::uint8_t*>(codes.data),
      {grid.batch, grid.height + 2 * grid.halo, grid.width + 2 * grid.halo, grid.channels},
      at::kByte);
  return bytes.permute({0, 3, 1, 2}).to(type).sub_(codes.params.zero_point);
}

at::Tensor without_halo(const at::Tensor& x, int halo) {
  return x.slice(2, halo, x.size(2) - halo).slice(3, halo, x.size(3) - halo);
}

at::Tensor weight_codes(const ConvShape& s, const ConvWeights& weights, at::ScalarType type) {
  return at::from_blob(const_cast<std::int8_t*>(weights.codes().data()),
                       {s.out_channels, s.kernel, s.kernel, s.group_inputs()}, at::kChar)
      .permute({0, 3, 1, 2})
      .to(type);
}

// The halo is the padding.
at::Tensor convolved(const ConvShape& s, const at::Tensor& x, const at::Tensor& weight) {
  const std::int64_t stride[] = {s.stride, s.stride}, none[] = {0, 0}, one[] = {1, 1};
  return at::conv2d(x, weight, c10::nullopt, stride, none, one, s.groups);
}

// [batch, height, width, channels] in float, dense.
at::Tensor by_pixel(const at::Tensor& x) {
  return x.permute({0, 2, 3, 1}).to(at::kFloat).contiguous();
}

// Calls sink(pixel, channel, value) for every output.
template <typename Sink>
void each_output(const ConvShape& s, const Codes& made, const ConvWeights& weights, Sink sink) {
  const CodeTensor tensor(made, s.input_grid());
  const Codes& input = tensor.codes;
  const double products = s.kernel * s.kernel * s.group_inputs();
  const auto type = exact_type(products * largest_code(input) * largest_weight(weights));
  const at::Tensor q = differences(s.input_grid(), input, type);
  const at::Tensor sums = convolved(s, q, weight_codes(s, weights, type));
  const at::Tensor per_group =
      q.reshape({s.batch, s.groups, s.group_inputs(), q.size(2), q.size(3)}).sum(2);
  const at::Tensor boxes =
      convolved(s, per_group, at::ones({s.groups, 1, s.kernel, s.kernel}, type));
  std::vector<float> scales(weights.scales().begin(), weights.scales().end());
  for (float& scale : scales) scale *= input.params.scale;
  each_result(by_pixel(sums), by_pixel(boxes), weights.offsets(), scales, sink);
}

// All outputs, kind by kind.
std::vector<float> outputs(const ConvShape& s, std::span<const ImageCodes> kinds,
                           const ConvWeights& weights) {
  std::vector<float> values(static_cast<std::size_t>(s.error_grid().elements()));
  const std::int64_t pixels = s.out_height() * s.out_width();
  for (const ImageCodes& kind : kinds) {
    if (kind.images.empty()) continue;  // LibTorch does not convolve empty batches
    const PickedImages picked(kind.codes, kind.images);
    each_output(picked.shape(s), picked.codes(), weights,
                [&](std::int64_t pixel, std::int64_t c, float value) {
                  const std::int64_t image = picked.image(pixel / pixels);
                  const std::int64_t at = (image * pixels + pixel % pixels) * s.out_channels + c;
                  values[static_cast<std::size_t>(at)] = value;
                });
  }
  return values;
}

void simulated_forward(const ConvShape& s, std::span<const ImageCodes> given,
                       const ConvWeights& weights, integer::MutableReal output,
                       integer::ChannelStats& stats) {
  const std::vector<int> all = all_images(s);
  std::vector<ImageCodes> kinds(given.begin(), given.end());
  const bool one = kinds.size() == 1 && kinds.front().images.empty();
  if (one) kinds.front().images = all;
  const std::vector<float> values = outputs(s, kinds, weights);
  Statistics statistics(s, one ? s.images_a_sum() : 1, stats);
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    const float value = values[static_cast<std::size_t>(i)];
    write(output, i, value);
    statistics.add(i / s.out_channels, i % s.out_channels, value);
  }
  statistics.flush();
}

// Sum of offset[o] * (e - z) over the channels of a group at each pixel, in 8 interleaved partial
// sums.
at::Tensor weighted_sums(const ConvShape& s, const at::Tensor& errors,
                         std::span<const float> offsets) {
  const at::Tensor pixels = by_pixel(errors);
  const int channels = s.group_outputs();
  at::Tensor result = at::empty({pixels.numel() / channels});
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    const float* e = pixels.data_ptr<float>() + i * channels;
    const float* offset = offsets.data() + i % s.groups * channels;
    float part[8] = {};
    for (int c = 0; c < channels; ++c) part[c % 8] = std::fma(offset[c], e[c], part[c % 8]);
    result.data_ptr<float>()[i] =
        ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
  return result.view({s.batch, s.out_height(), s.out_width(), s.groups});
}

// The outputs along one axis that input position `at` reaches, in ascending order.
struct Reached {
  int first, last;
  Reached(int at, int pad, int stride, int size)
      : first(std::max(0, (at - pad + stride - 1) / stride)),
        last(std::min(size - 1, (at + pad) / stride)) {
    if (at < pad) first = 0;
  }
};

// Each input pixel's sum over the outputs that it reached: down the columns, then across.
at::Tensor box_sums(const ConvShape& s, const at::Tensor& sums) {
  at::Tensor boxes = at::empty({s.batch, s.height, s.width, s.groups});
  const auto from = sums.accessor<float, 4>();
  auto to = boxes.accessor<float, 4>();
  for (int n = 0; n < s.batch; ++n)
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x)
        for (int g = 0; g < s.groups; ++g) {
          const Reached rows(y, s.pad(), s.stride, s.out_height());
          const Reached columns(x, s.pad(), s.stride, s.out_width());
          float total = 0;
          for (int ox = columns.first; ox <= columns.last; ++ox) {
            float column = 0;
            for (int oy = rows.first; oy <= rows.last; ++oy) column += from[n][oy][ox][g];
            total += column;
          }
          to[n][y][x][g] = total;
        }
  return boxes;
}

at::Tensor transposed(const ConvShape& s, const at::Tensor& errors, const at::Tensor& weight) {
  const auto missing = [&](int size, int out) {
    return std::int64_t{size - ((out - 1) * s.stride + 1)};
  };
  return at::conv_transpose2d(errors, weight, {}, s.stride, s.pad(),
                              {missing(s.height, s.out_height()), missing(s.width, s.out_width())},
                              s.groups);
}

// Calls sink(pixel, channel, value) with what the codes of one plane are worth.
template <typename Sink>
void each_input_gradient(const ConvShape& s, const Codes& errors, const ConvWeights& weights,
                         Sink sink) {
  const double products = s.kernel * s.kernel * s.group_outputs();
  const auto type = exact_type(products * largest_code(errors) * largest_weight(weights));
  const at::Tensor e = without_halo(differences(s.error_grid(), errors, type), s.pad());
  const at::Tensor sums = transposed(s, e, weight_codes(s, weights, type));
  const std::vector<float> scales(static_cast<std::size_t>(s.in_channels), errors.params.scale);
  if (s.depthwise()) {
    const at::Tensor ones = at::ones({s.out_channels, 1, s.kernel, s.kernel}, type);
    each_result(by_pixel(sums), by_pixel(transposed(s, e, ones)), weights.offsets(), scales, sink);
    return;
  }
  const std::vector<float> ones(static_cast<std::size_t>(s.in_channels), 1.0f);
  each_result(by_pixel(sums), box_sums(s, weighted_sums(s, e, weights.offsets())), ones, scales,
              sink);
}

void simulated_backward_data(const ConvShape& s, const Codes& errors, const ConvWeights& weights,
                             integer::MutableReal input_gradient) {
  const std::vector<Codes> planes = code_planes(s.error_grid(), errors);
  at::Tensor high;
  if (planes.size() > 1) {
    high = at::empty({s.input_grid().elements()});
    each_input_gradient(s, planes.front(), weights,
                        [&](std::int64_t pixel, std::int64_t c, float value) {
                          high.data_ptr<float>()[pixel * s.in_channels + c] = value;
                        });
  }
  each_input_gradient(
      s, planes.back(), weights, [&](std::int64_t pixel, std::int64_t c, float value) {
        const std::int64_t at = pixel * s.in_channels + c;
        write(input_gradient, at, high.defined() ? high.data_ptr<float>()[at] + value : value);
      });
}

// The differences of errors of any width, without their halo.
at::Tensor error_differences(const ConvShape& s, const Codes& errors, at::ScalarType type) {
  at::Tensor sum;
  for (const Codes& plane : code_planes(s.error_grid(), errors)) {
    const at::Tensor own = without_halo(differences(s.error_grid(), plane, type), s.pad());
    sum = sum.defined() ? sum * (plane.params.largest_code() + 1) + own : own;
  }
  return sum;
}

void simulated_backward_weights(const ConvShape& s, Codes input, Codes errors, float error_divisor,
                                const ConvWeights& weights, std::span<float> weight_gradient) {
  const double products = double{1} * s.batch * s.out_height() * s.out_width();
  const auto type = exact_type(products * largest_code(input) * largest_code(errors));
  const at::Tensor q = differences(s.input_grid(), input, type);
  const at::Tensor e = error_differences(s, errors, type);
  const std::int64_t stride[] = {s.stride, s.stride}, none[] = {0, 0}, one[] = {1, 1};
  const at::Tensor sums = std::get<1>(
      at::convolution_backward(e, q, weight_codes(s, weights, type), c10::nullopt, stride, none,
                               one, false, none, s.groups, {false, true, false}));
  const at::Tensor exact = sums.permute({0, 2, 3, 1}).to(at::kDouble).contiguous();
  const auto each = weight_gradient.size() / static_cast<std::size_t>(s.out_channels);
  for (std::size_t i = 0; i < weight_gradient.size(); ++i) {
    const double factor = double{input.params.scale} * (errors.params.scale / error_divisor) /
                          weights.scales()[i / each];
    weight_gradient[i] = static_cast<float>(exact.data_ptr<double>()[i] * factor);
  }
}

// The images' part of a gradient of the whole batch.
void scatter(const at::Tensor& from, const PickedImages& picked, integer::MutableReal to) {
  const std::int64_t each = from.size(1);
  const std::int64_t bytes = each * integer::bytes_of(to.type);
  for (std::int64_t n = 0; n < from.size(0); ++n) {
    std::memcpy(static_cast<char*>(to.data) + picked.image(n) * bytes,
                static_cast<const char*>(from.data_ptr()) + n * bytes,
                static_cast<std::size_t>(bytes));
  }
}

// The input gradients of a kind's images as a batch of their own, put where they belong.
void backward_data_of(const integer::ConvBackward& call, const Codes& errors,
                      const PickedImages& picked) {
  if (!call.input_gradient) return;
  const ConvShape shape = picked.shape(call.shape);
  const auto type = call.input_gradient.type == integer::Real::f16 ? at::kHalf : at::kFloat;
  const at::Tensor gradient =
      at::empty({shape.batch, shape.input_grid().elements() / shape.batch}, type);
  integer::MutableReal own = call.input_gradient;
  own.data = gradient.data_ptr();
  simulated_backward_data(shape, errors, call.weights, own);
  scatter(gradient, picked, call.input_gradient);
}

// Both products of a kind, in the order that ConvBackward promises; answers its weight gradient.
std::vector<float> simulated_backward_of(const integer::ConvBackward& call,
                                         const integer::BackwardCodes& kind) {
  const std::vector<int> all = all_images(call.shape);
  const auto images = kind.images.empty() ? std::span<const int>(all) : kind.images;
  const PickedImages picked_input(kind.input, images), picked_errors(kind.errors, images);
  const ConvShape shape = picked_input.shape(call.shape);
  const CodeTensor errors(picked_errors.codes(), shape.error_grid());
  backward_data_of(call, errors.codes, picked_errors);
  for (const int image : images) {
    if (call.after_image) call.after_image(image);
  }
  const CodeTensor input(picked_input.codes(), shape.input_grid());
  std::vector<float> weights(call.weight_gradient.size());
  simulated_backward_weights(shape, input.codes, errors.codes, call.error_divisor, call.weights,
                             weights);
  return weights;
}

void simulated_backward(const integer::ConvBackward& call) {
  for (const integer::BackwardCodes& kind : call.kinds) {
    const bool first = &kind == call.kinds.data();
    std::ranges::transform(
        simulated_backward_of(call, kind), call.weight_gradient, call.weight_gradient.begin(),
        [first](float more, float there) { return first ? more : there + more; });
  }
}

constexpr ConvProducts kSimulated{simulated_forward, simulated_backward};
constexpr ConvProducts kExecuted{integer::conv_forward, integer::conv_backward};

}  // namespace

const ConvProducts& conv_products(Executor executor) {
  return executor == Executor::oracle ? kSimulated : kExecuted;
}

}  // namespace bitcycle
