#include "bitcycle/quant/layer_norm_function.h"

#include "quant/first_derivative.h"
#include "quant/weight_gradient.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LayerNormFunction : torch::autograd::Function<LayerNormFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const at::Tensor& bias, double epsilon) {
    const at::Tensor rows = x.reshape({-1, x.size(-1)}).contiguous();
    const auto [y, mean, inverse] =
        at::native_layer_norm(rows, {rows.size(1)}, weight, bias, epsilon);
    context->save_for_backward({rows, mean, inverse, weight, bias});
    return y.view(x.sizes());
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &rows = saved[0], &mean = saved[1], &inverse = saved[2];
    const at::Tensor error = errors[0].reshape(rows.sizes()).contiguous();
    const at::Tensor input_gradient = std::get<0>(at::native_layer_norm_backward(
        error, rows, {rows.size(1)}, mean, inverse, saved[3], saved[4], {true, false, false}));
    const at::Tensor sums =
        sum_over_shards(rows.size(0), [&](std::int64_t first, std::int64_t count) {
          const auto part = [&](const at::Tensor& all) { return all.narrow(0, first, count); };
          const at::Tensor normal = (part(rows) - part(mean)).mul_(part(inverse));
          return at::stack({normal.mul_(part(error)).sum(0), part(error).sum(0)});
        });
    return {input_gradient.view(errors[0].sizes()), sums[0], sums[1], {}};
  }
};

}  // namespace

at::Tensor layer_norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      double epsilon) {
  return LayerNormFunction::apply(x, weight, bias, epsilon);
}

}  // namespace bitcycle
