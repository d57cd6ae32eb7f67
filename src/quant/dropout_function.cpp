#include "bitcycle/quant/dropout_function.h"

#include "quant/dense.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Elsewhere than on the CPU the mask is made here and taken along.
at::Tensor masked(const at::Tensor& x, DropRate rate, NoiseKey key) {
  const at::Tensor input = dense(x);
  if (input.is_cpu() && input.scalar_type() == at::kFloat) {
    at::Tensor out = at::empty_like(input);
    drop_out(values(input), rate, key, 0, values(out));
    return out;
  }
  at::Tensor mask =
      at::ones_like(input, at::TensorOptions(at::kFloat).device(at::kCPU), memory_order(input));
  drop_out(values(mask), rate, key, 0, values(mask));
  return input * mask.to(input.options());
}

struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, DropRate rate,
                            NoiseKey key) {
    context->saved_data["key"] = std::vector<std::int64_t>{key.first, key.second};
    context->saved_data["threshold"] = std::int64_t{rate.threshold};
    context->saved_data["scale"] = double{rate.scale};
    return masked(x, rate, key);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const auto key = context->saved_data["key"].toIntVector();
    const DropRate rate{static_cast<std::uint32_t>(context->saved_data["threshold"].toInt()),
                        static_cast<float>(context->saved_data["scale"].toDouble())};
    return {masked(errors[0], rate,
                   {static_cast<std::uint32_t>(key[0]), static_cast<std::uint32_t>(key[1])}),
            {},
            {}};
  }
};

}  // namespace

at::Tensor dropped_out(const at::Tensor& x, DropRate rate, NoiseKey key) {
  return DropoutFunction::apply(x, rate, key);
}

}  // namespace bitcycle
