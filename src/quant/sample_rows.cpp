#include "quant/sample_rows.h"

#include "bitcycle/kernels/integer/convert.h"
#include "bitcycle/kernels/integer/passes.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/real_view.h"

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

// skipped - passed, all that the worth of skipping needs of the two.
at::Tensor difference(const at::Tensor& skipped, const at::Tensor& passed) {
  if (!skipped.is_cpu()) return skipped - passed;
  const at::Tensor from = dense(passed), added = dense(skipped), to = at::empty_like(from);
  const std::vector<float> minus(static_cast<std::size_t>(from.size(1)), -1.0f);
  activate(grid_of(from), {.y = view_of(from), .residual = view_of(added), .scale = minus},
           mutable_view_of(to), nullptr);
  return to;
}

// The inner product of each sample.
at::Tensor products(const at::Tensor& error, const at::Tensor& difference) {
  if (!error.is_cpu()) return (error * difference).flatten(1).sum(1);
  const at::Tensor result = at::empty({error.size(0)});
  image_products(grid_of(error), view_of(error), view_of(difference), result.data_ptr<float>());
  return result;
}

struct JoinFunction : Function<JoinFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& skipped,
                            const at::Tensor& passed, const at::Tensor&, const at::Tensor& index,
                            double gradient_scale) {
    const bool all = index.size(0) == skipped.size(0);
    const at::Tensor picked =
        all ? skipped : as_pictures(by_sample(skipped).index_select(0, index), skipped);
    context->save_for_backward({difference(picked, passed), index});
    context->saved_data["scale"] = gradient_scale;
    context->saved_data["all"] = all;
    if (all) return passed.detach();
    return as_pictures(by_sample(skipped).index_copy(0, index, by_sample(passed)), skipped);
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &difference = saved[0], &index = saved[1];
    const at::Tensor error = dense(errors[0]), rows = by_sample(error);
    const double scale = context->saved_data["scale"].toDouble();
    if (context->saved_data["all"].toBool()) {
      return {{}, error, products(error, difference).div_(scale), {}, {}};
    }
    const at::Tensor of_passed = as_pictures(rows.index_select(0, index), error);
    const at::Tensor of_skipped = as_pictures(rows.index_fill(0, index, 0), error);
    const at::Tensor worth = products(of_passed, difference).div_(scale);
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
