// The way into half precision, out of it, and the fork in it.

#include "bitcycle/quant/integer_unit.h"

#include "quant/dense.h"
#include "quant/real_view.h"

#include <bit>

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct EnterHalf : Function<EnterHalf> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) {
    return dense(x).to(at::kHalf);
  }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    return {errors[0].to(at::kFloat).div_(gradient_scale(errors[0].size(0)))};
  }
};

struct LeaveHalf : Function<LeaveHalf> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return x.to(at::kFloat); }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    return {dense(errors[0]).mul(gradient_scale(errors[0].size(0))).to(at::kHalf)};
  }
};

struct ForkHalf : Function<ForkHalf> {
  static variable_list forward(AutogradContext*, const at::Tensor& x) {
    return {x.detach(), x.detach()};
  }
  static variable_list backward(AutogradContext*, const variable_list& errors) {
    const at::Tensor a = dense(errors[0]), b = dense(errors[1]);
    const at::Tensor sum = at::empty_like(a);
    activate(grid_of(a), {.y = view_of(a), .residual = view_of(b)}, mutable_view_of(sum), nullptr);
    return {sum};
  }
};

}  // namespace

float gradient_scale(std::int64_t batch) {
  return static_cast<float>(32 * std::bit_ceil(static_cast<std::uint64_t>(batch)));
}

at::Tensor enter_half(const at::Tensor& x) {
  return EnterHalf::apply(x);
}
at::Tensor leave_half(const at::Tensor& x) {
  return LeaveHalf::apply(x);
}

std::pair<at::Tensor, at::Tensor> fork_half(const at::Tensor& x) {
  const variable_list copies = ForkHalf::apply(x);
  return {copies[0], copies[1]};
}

}  // namespace bitcycle
