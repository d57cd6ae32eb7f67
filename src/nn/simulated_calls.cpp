#include "nn/simulated_calls.h"

#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"
#include "quant/steady_product.h"
#include "quant/weight_gradient.h"

#include <utility>

namespace bitcycle {

SimulatedCalls::SimulatedCalls(const LayerCalls& layer) : layer_(layer), bits_(layer.layer.bits()) {
  weight_ = bits_.weight == 0 ? dense(layer.weight) : quantize_weight(layer.weight, bits_.weight);
}

at::Tensor SimulatedCalls::forward(const at::Tensor& x) {
  at::Tensor input = dense(x);
  if (bits_.activation != 0) {
    const auto own_range = [&] { return tensor_range(input); };
    const Range range = layer_.layer.input_range(own_range, layer_.training);
    input = quantize_tensor(input, range, bits_.activation);
  }
  inputs_.push_back(input);
  at::Tensor y = steady_product(input, weight_.t());
  return layer_.bias.defined() ? y.add_(layer_.bias) : y;
}

at::Tensor SimulatedCalls::backward(const at::Tensor& error, InputGradient wanted) {
  const NoiseKey noise = layer_.noise[inputs_.size() - 1 - errors_.size()];
  errors_.push_back(error);
  quantized_errors_.push_back(bits_.error == 0 ? dense(error)
                                               : quantize_error(error, bits_.error, noise));
  if (wanted == InputGradient::not_wanted) return {};
  return steady_product(quantized_errors_.back(), weight_);
}

LinearGradients SimulatedCalls::gradients() {
  const at::Tensor errors = at::cat(std::exchange(errors_, {}));
  const at::Tensor rows = at::cat(std::exchange(quantized_errors_, {}));
  const at::Tensor inputs = at::cat(std::vector<at::Tensor>(inputs_.rbegin(), inputs_.rend()));
  const auto over_rows = [&](const auto& gradient) {
    return sum_over_shards(rows.size(0), gradient);
  };
  LinearGradients sums;
  sums.weight = over_rows([&](std::int64_t first, std::int64_t count) {
    return at::mm(rows.narrow(0, first, count).t(), inputs.narrow(0, first, count));
  });
  if (!layer_.bias.defined()) return sums;
  sums.bias = over_rows([&](std::int64_t first, std::int64_t count) {
    return errors.narrow(0, first, count).sum(0);
  });
  return sums;
}

}  // namespace bitcycle
