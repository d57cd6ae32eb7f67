#include "nn/integer_calls.h"

#include <utility>

namespace bitcycle {
namespace {

void add_to(at::Tensor& sum, const at::Tensor& term) {
  if (!term.defined()) return;
  sum.defined() ? static_cast<void>(sum.add_(term)) : static_cast<void>(sum = term);
}

}  // namespace

IntegerCalls::IntegerCalls(const LayerCalls& layer, Executor executor,
                           std::shared_ptr<integer::ConvWeights> codes)
    : layer_(layer),
      weight_(layer.weight.view({layer.weight.size(0), layer.weight.size(1), 1, 1})),
      unit_{.shape = {.in_channels = static_cast<int>(weight_.size(1)),
                      .out_channels = static_cast<int>(weight_.size(0))},
            .bits = layer.layer.bits(),
            .executor = executor,
            .weights = std::move(codes),
            .norm = {nullptr, layer.bias}} {}

at::Tensor IntegerCalls::forward(const at::Tensor& x) {
  const UnitTensor input{x.view({x.size(0), x.size(1), 1, 1}), {}, {}};
  Call& call = calls_.emplace_back();
  unit_.shape.batch = static_cast<int>(x.size(0));
  unit_.noise = layer_.noise[calls_.size() - 1];
  unit_.input_range = unit_input_range(layer_.layer, input, layer_.training);
  unit_.weight_codes = calls_.size() == 1 ? WeightCodes::to_make : WeightCodes::at_hand;
  call.state.call = unit_;
  call.tensors.weight = weight_;
  return unit_forward(input.values, {}, call.state, call.tensors).view({x.size(0), -1});
}

at::Tensor IntegerCalls::backward(const at::Tensor& error, InputGradient wanted) {
  const Call& call = calls_[calls_.size() - ++errors_];
  const auto gradients =
      unit_gradients(call.state, call.tensors, error.view({error.size(0), error.size(1), 1, 1}), {},
                     {.x = wanted == InputGradient::wanted});
  add_to(sums_.weight, gradients.weight.view({weight_.size(0), weight_.size(1)}));
  add_to(sums_.bias, gradients.beta);
  return gradients.x.defined() ? gradients.x.view({error.size(0), -1}) : at::Tensor();
}

LinearGradients IntegerCalls::gradients() {
  errors_ = 0;
  return std::exchange(sums_, {});
}

}  // namespace bitcycle
