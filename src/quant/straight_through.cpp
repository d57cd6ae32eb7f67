#include "bitcycle/quant/straight_through.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct StraightThrough : torch::autograd::Function<StraightThrough> {
  static at::Tensor forward(AutogradContext*, const at::Tensor&, const at::Tensor& quantized) {
    return quantized.clone();  // an input that is returned would be the graph's own
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {gradients[0], {}};
  }
};

}  // namespace

at::Tensor straight_through(const at::Tensor& x, const at::Tensor& quantized) {
  return StraightThrough::apply(x, quantized.detach());
}

}  // namespace bitcycle
