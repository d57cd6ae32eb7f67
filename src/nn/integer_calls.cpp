#include "nn/integer_calls.h"

#include "bitcycle/quant/unit_tensor.h"

#include "quant/dense.h"
#include "quant/linear_products.h"
#include "quant/observe.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace bitcycle {
namespace {

at::Tensor room_for_codes_of(const at::Tensor& x, int bits) {
  const std::size_t bytes =
      integer::row_code_bytes(static_cast<int>(x.size(0)), static_cast<int>(x.size(1)), bits);
  return at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
}

integer::RowCodes row_codes(const at::Tensor& codes, std::int64_t rows, std::int64_t width,
                            const integer::CodeParams& params) {
  return {codes.data_ptr<std::uint8_t>(), static_cast<int>(rows), static_cast<int>(width), params};
}

}  // namespace

IntegerCalls::IntegerCalls(const LayerCalls& layer, Executor executor,
                           std::shared_ptr<LinearCodes> codes)
    : layer_(layer), bits_(layer.layer.bits()), executor_(executor), codes_(std::move(codes)) {}

at::Tensor IntegerCalls::forward(const at::Tensor& x) {
  const at::Tensor from = dense(x);
  const UnitTensor input{from.view({x.size(0), x.size(1), 1, 1}), {}, {}};
  const Range range = unit_input_range(layer_.layer, input, layer_.training);
  Coded coded{room_for_codes_of(from, bits_.activation), x.size(0),
              integer::code_params(range, bits_.activation)};
  integer::quantize_rows(values(from), static_cast<int>(x.size(1)), coded.params,
                         coded.codes.data_ptr<std::uint8_t>());
  at::Tensor y = at::empty({x.size(0), layer_.weight.size(0)}, x.options());
  const at::Tensor& bias = layer_.bias;
  const auto& weights = codes_->forward(layer_.weight, bits_.weight);
  const auto rows = row_codes(coded.codes, coded.rows, x.size(1), coded.params);
  observe_forward(layer_.layer.observed().get(), {layer_.weight, weights, values(from), rows},
                  range);
  linear_products(executor_).forward(
      weights, rows, bias.defined() ? values(bias) : std::span<const float>(), values(y));
  inputs_.push_back(std::move(coded));
  return y;
}

at::Tensor IntegerCalls::backward(const at::Tensor& error, InputGradient wanted) {
  const at::Tensor from = dense(error);
  const auto& weights = codes_->backward(layer_.weight, bits_.weight);
  const integer::ErrorStats stats = integer::error_stats(values(from), weights);
  bias_sums_.resize(stats.sums.size());
  std::ranges::transform(bias_sums_, stats.sums, bias_sums_.begin(), std::plus<>());
  Coded coded{room_for_codes_of(from, bits_.error), from.size(0),
              integer::code_params(stats.range, bits_.error)};
  const NoiseKey noise = layer_.noise[inputs_.size() - 1 - errors_.size()];
  integer::quantize_errors(values(from), weights, coded.params, noise,
                           coded.codes.data_ptr<std::uint8_t>());
  const auto rows = row_codes(coded.codes, coded.rows, from.size(1), coded.params);
  observe_backward(layer_.layer.observed().get(), {layer_.weight, weights, values(from), rows});
  at::Tensor dx;
  if (wanted == InputGradient::wanted) {
    dx = at::empty({from.size(0), layer_.weight.size(1)}, from.options());
    linear_products(executor_).input_gradient(weights, rows, values(dx));
  }
  errors_.push_back(std::move(coded));
  return dx;
}

LinearGradients IntegerCalls::gradients() {
  const std::int64_t outputs = layer_.weight.size(0), inputs = layer_.weight.size(1);
  std::vector<integer::LinearTerm> terms;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Coded &input = inputs_[i], &error = errors_[errors_.size() - 1 - i];
    terms.push_back({row_codes(input.codes, input.rows, inputs, input.params),
                     row_codes(error.codes, error.rows, outputs, error.params)});
  }
  LinearGradients sums{at::empty({outputs, inputs}), {}};
  linear_products(executor_).weight_gradients(codes_->backward(layer_.weight, bits_.weight), terms,
                                              values(sums.weight));
  errors_.clear();
  const std::vector<double> bias_sums = std::exchange(bias_sums_, {});
  if (!layer_.bias.defined()) return sums;
  sums.bias = at::empty({outputs});
  std::ranges::transform(bias_sums, values(sums.bias).begin(),
                         [](double sum) { return static_cast<float>(sum); });
  return sums;
}

}  // namespace bitcycle
