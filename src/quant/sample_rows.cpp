#include "quant/sample_rows.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

at::Tensor index_of(const std::vector<int>& rows, const at::Device& device) {
  return at::tensor(std::vector<std::int64_t>(rows.begin(), rows.end()), at::kLong).to(device);
}

// [samples, elements] in memory order, sharing the memory of a dense tensor.
at::Tensor by_sample(const at::Tensor& x) {
  return dense(x).permute({0, 2, 3, 1}).flatten(1);
}
at::Tensor as_pictures(const at::Tensor& rows, const at::Tensor& like) {
  return rows.view({rows.size(0), like.size(2), like.size(3), like.size(1)}).permute({0, 3, 1, 2});
}

// Zeros, but for the samples at `index`.
at::Tensor spread(const at::Tensor& x, const at::Tensor& index, std::int64_t samples) {
  const at::Tensor rows = by_sample(x);
  return as_pictures(at::zeros({samples, rows.size(1)}, rows.options()).index_copy_(0, index, rows),
                     x);
}

struct SelectFunction : Function<SelectFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& index) {
    context->save_for_backward({index});
    context->saved_data["samples"] = x.size(0);
    return as_pictures(by_sample(x).index_select(0, index), x);
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    return {spread(errors[0], context->get_saved_variables()[0],
                   context->saved_data["samples"].toInt()),
            {}};
  }
};

// Per sample of `passed`.
at::Tensor worth_of_skipping(const at::Tensor& error, const at::Tensor& skipped,
                             const at::Tensor& passed) {
  const at::Tensor difference = by_sample(skipped).to(at::kFloat) - by_sample(passed);
  return (by_sample(error).to(at::kFloat) * difference).sum(1);
}

struct JoinFunction : Function<JoinFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& skipped,
                            const at::Tensor& passed, const at::Tensor&, const at::Tensor& index,
                            double gradient_scale) {
    context->save_for_backward({skipped, passed, index});
    context->saved_data["scale"] = gradient_scale;
    if (index.size(0) == skipped.size(0)) return dense(passed).clone();
    at::Tensor joined = by_sample(skipped).clone();
    if (index.size(0) > 0) joined.index_copy_(0, index, by_sample(passed));
    return as_pictures(joined, skipped);
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &skipped = saved[0], &passed = saved[1], &index = saved[2];
    const at::Tensor error = dense(errors[0]);
    const at::Tensor rows = by_sample(error);
    const at::Tensor of_passed = as_pictures(rows.index_select(0, index), error);
    const at::Tensor of_skipped = as_pictures(rows.index_fill(0, index, 0), error);
    const at::Tensor picked = as_pictures(by_sample(skipped).index_select(0, index), skipped);
    const at::Tensor worth =
        worth_of_skipping(of_passed, picked, passed).div_(context->saved_data["scale"].toDouble());
    const at::Tensor skip =
        at::zeros({error.size(0)}, worth.options()).index_copy_(0, index, worth);
    return {of_skipped, of_passed, skip, {}, {}};
  }
};

}  // namespace

at::Tensor select_samples(const at::Tensor& x, const std::vector<int>& rows) {
  return SelectFunction::apply(x, index_of(rows, x.device()));
}

at::Tensor join_samples(const at::Tensor& skipped, const at::Tensor& passed, const at::Tensor& skip,
                        const SkipCall& call) {
  return JoinFunction::apply(skipped, passed, skip, index_of(call.rows, skipped.device()),
                             double{call.gradient_scale});
}

}  // namespace bitcycle
