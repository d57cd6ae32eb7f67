#include "nn/simulated_calls.h"

#include "quant/dense.h"
#include "quant/scheme_call.h"
#include "quant/steady_product.h"
#include "quant/weight_gradient.h"

#include <ranges>
#include <utility>

namespace bitcycle {

SimulatedCalls::SimulatedCalls(const LayerCalls& layer)
    : layer_(layer),
      weight_(quantized_weight(layer.weight, {.bits = layer.layer.bits(),
                                              .scheme = layer.layer.shared_scheme(),
                                              .observed = layer.layer.observed()})) {}

at::Tensor SimulatedCalls::forward(const at::Tensor& x) {
  const LayerCall call =
      layer_.layer.simulated_call(x, layer_.training, layer_.noise[calls_.size()]);
  const at::Tensor input = quantized_input(x, call);
  calls_.push_back({call, input, asks_for_input(call) ? x : at::Tensor()});
  at::Tensor y = steady_product(input, weight_.t());
  return layer_.bias.defined() ? y.add_(quantized_bias(layer_.bias, call)) : y;
}

at::Tensor SimulatedCalls::backward(const at::Tensor& error, InputGradient wanted) {
  const Call& called = calls_[calls_.size() - 1 - errors_.size()];
  const CallErrors quantized = quantized_errors(error, called.call);
  errors_.push_back(error);
  quantized_errors_.push_back(quantized.for_weight);
  if (wanted == InputGradient::not_wanted) return {};
  return through_input(steady_product(quantized.for_input, weight_), called.x, called.call);
}

LinearGradients SimulatedCalls::gradients() {
  const at::Tensor errors = at::cat(std::exchange(errors_, {}));
  const at::Tensor rows = at::cat(std::exchange(quantized_errors_, {}));
  std::vector<at::Tensor> last_first;
  for (const Call& called : calls_ | std::views::reverse) last_first.push_back(called.input);
  const at::Tensor inputs = at::cat(last_first);
  const auto over_rows = [&](const auto& gradient) {
    return sum_over_shards(rows.size(0), gradient);
  };
  LinearGradients sums;
  sums.weight = over_rows([&](std::int64_t first, std::int64_t count) {
    return at::mm(rows.narrow(0, first, count).t(), inputs.narrow(0, first, count));
  });
  sums.weight = through_weight(sums.weight, layer_.weight, calls_.front().call);
  if (!layer_.bias.defined()) return sums;
  sums.bias = over_rows([&](std::int64_t first, std::int64_t count) {
    return errors.narrow(0, first, count).sum(0);
  });
  return sums;
}

}  // namespace bitcycle
