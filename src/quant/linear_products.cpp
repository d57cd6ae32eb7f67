// The products of fully connected layers by other means: LibTorch multiplies the codes as
// floating-point numbers, in single precision where every sum stays below 2^24 and in double
// otherwise, so the sums are exact. What follows them is docs/numerics.md written out in scalar
// code.

#include "quant/linear_products.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/code_planes.h"
#include "bitcycle/quant/torch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace bitcycle {
namespace {

using integer::LinearTerm;
using integer::LinearWeights;
using integer::RowCodes;

at::ScalarType exact_linear_type(double products, double largest_product) {
  return products * largest_product < 16777216.0 ? at::kFloat : at::kDouble;
}

// The planes of errors of any width: see Note [Wide errors] in
// bitcycle/kernels/integer/code_planes.h.
std::vector<RowCodes> row_planes(const RowCodes& codes) {
  std::vector<RowCodes> planes;
  for (const integer::CodePlane& plane : planes_of(codes.params)) {
    const auto before = static_cast<std::int64_t>(planes.size()) * codes.rows * codes.width;
    planes.push_back({codes.data + before, codes.rows, codes.width, plane.params});
  }
  return planes;
}

// code - zero point, [rows, width]
at::Tensor row_differences(const RowCodes& codes, at::ScalarType type) {
  at::Tensor sum;
  for (const RowCodes& plane : row_planes(codes)) {
    const at::Tensor own =
        at::from_blob(const_cast<std::uint8_t*>(plane.data), {codes.rows, codes.width}, at::kByte)
            .to(type)
            .sub_(plane.params.zero_point);
    sum = sum.defined() ? sum * (plane.params.largest_code() + 1) + own : own;
  }
  return sum;
}

// [out, in]
at::Tensor linear_codes(const LinearWeights& weights, at::ScalarType type) {
  const auto [inputs, outputs] = weights.shape();
  return at::from_blob(const_cast<std::int8_t*>(weights.codes().data()), {outputs, inputs},
                       at::kChar)
      .to(type);
}

double largest_with(const RowCodes& codes, const LinearWeights& weights) {
  return codes.params.largest_code() * double(1 << (weights.bits() - 1));
}

at::Tensor in_float(const at::Tensor& x) {
  return x.to(at::kFloat).contiguous();
}

void simulated_linear_forward(const LinearWeights& weights, const RowCodes& input,
                              std::span<const float> bias, std::span<float> output) {
  const auto type = exact_linear_type(input.width, largest_with(input, weights));
  const at::Tensor q = row_differences(input, type);
  const at::Tensor sums = in_float(q.matmul(linear_codes(weights, type).t()));
  const at::Tensor boxes = in_float(q.to(at::kDouble).sum(1));
  const auto outputs = static_cast<std::size_t>(weights.shape().outputs);
  for (std::size_t i = 0; i < output.size(); ++i) {
    const std::size_t o = i % outputs;
    const float scale = weights.scales()[o] * input.params.scale;
    const float value = std::fma(weights.offsets()[o], boxes.data_ptr<float>()[i / outputs],
                                 sums.data_ptr<float>()[i]) *
                        scale;
    output[i] = value + (bias.empty() ? 0.0f : bias[o]);
  }
  if (!all_finite(output)) std::ranges::fill(output, kNaN);  // Note [Poison]
}

// Sum of offset[o] * (e - z) over the outputs, in 8 interleaved partial sums.
float error_box(const float* differences, std::span<const float> offsets) {
  float part[8] = {};
  for (std::size_t o = 0; o < offsets.size(); ++o) {
    part[o % 8] = std::fma(offsets[o], differences[o], part[o % 8]);
  }
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

void simulated_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                              std::span<float> gradient) {
  if (is_wide(errors.params)) {
    std::vector<float> low(gradient.size());
    const std::vector<RowCodes> planes = row_planes(errors);
    simulated_input_gradient(weights, planes[0], gradient);
    simulated_input_gradient(weights, planes[1], low);
    std::ranges::transform(gradient, low, gradient.begin(), std::plus<>());
    return;
  }
  const auto type = exact_linear_type(errors.width, largest_with(errors, weights));
  const at::Tensor e = row_differences(errors, type);
  const at::Tensor sums = in_float(e.matmul(linear_codes(weights, type)));
  const at::Tensor differences = in_float(e);
  const std::int64_t inputs = weights.shape().inputs;
  for (std::int64_t row = 0; row < errors.rows; ++row) {
    const float box =
        error_box(differences.data_ptr<float>() + row * errors.width, weights.offsets());
    for (std::int64_t i = row * inputs; i < (row + 1) * inputs; ++i) {
      gradient[static_cast<std::size_t>(i)] =
          (sums.data_ptr<float>()[i] + box) * errors.params.scale;
    }
  }
}

at::Tensor weight_sums(const LinearTerm& term) {
  const double largest =
      double(term.input.params.largest_code()) * term.errors.params.largest_code();
  const auto type = exact_linear_type(term.input.rows, largest);
  return row_differences(term.errors, type)
      .t()
      .matmul(row_differences(term.input, type))
      .to(at::kDouble)
      .contiguous();
}

double linear_factor(const LinearWeights& weights, const LinearTerm& term, std::size_t element) {
  const auto inputs = static_cast<std::size_t>(weights.shape().inputs);
  return double{term.input.params.scale} * term.errors.params.scale /
         weights.scales()[element / inputs];
}

void simulated_weight_gradient(const LinearWeights& weights, const LinearTerm& term,
                               std::span<float> gradient) {
  const at::Tensor sums = weight_sums(term);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<float>(sums.data_ptr<double>()[i] * linear_factor(weights, term, i));
  }
}

void simulated_weight_gradients(const LinearWeights& weights, std::span<const LinearTerm> terms,
                                std::span<float> gradient) {
  std::ranges::fill(gradient, 0.0f);
  for (const LinearTerm& term : terms) {
    const at::Tensor sums = weight_sums(term);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = std::fma(static_cast<float>(sums.data_ptr<double>()[i]),
                             static_cast<float>(linear_factor(weights, term, i)), gradient[i]);
    }
  }
}

constexpr LinearProducts kSimulatedLinear{simulated_linear_forward, simulated_input_gradient,
                                          simulated_weight_gradient, simulated_weight_gradients};
constexpr LinearProducts kExecutedLinear{integer::linear_forward, integer::linear_input_gradient,
                                         integer::linear_weight_gradient,
                                         integer::linear_weight_gradients};

}  // namespace

const LinearProducts& linear_products(Executor executor) {
  return executor == Executor::oracle ? kSimulatedLinear : kExecutedLinear;
}

}  // namespace bitcycle
