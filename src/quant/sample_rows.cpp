#include "quant/sample_rows.h"

#include "bitcycle/kernels/integer/convert.h"
#include "bitcycle/kernels/integer/passes.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"
#include "quant/made_again.h"
#include "quant/pending_norm.h"
#include "quant/real_view.h"

#include <algorithm>
#include <iterator>
#include <numeric>

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
at::Tensor difference(const at::Tensor& skipped, const at::Tensor& passed,
                      const std::vector<int>* rows = nullptr) {
  if (!skipped.is_cpu()) return skipped - passed;
  const at::Tensor from = dense(passed), added = dense(skipped), to = at::empty_like(from);
  const std::vector<float> minus(static_cast<std::size_t>(from.size(1)), -1.0f);
  activate(grid_of(from),
           {.y = view_of(from, rows), .residual = view_of(added, rows), .scale = minus},
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

using Rows = std::shared_ptr<const SampleRows>;

at::Tensor mutable_sum(const at::Tensor& around, const at::Tensor& part, const SampleRows& rows) {
  if (around.defined()) return dense(around);
  return as_pictures(at::zeros({rows.batch, part.numel() / part.size(0)}, part.options()), part);
}

struct SplitFunction : Function<SplitFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& x, const Rows& rows,
                               Around around) {
    context->saved_data["rows"] = c10::IValue::make_capsule(c10::make_intrusive<KeptRows>(rows));
    context->saved_data["all"] = around == Around::all_samples;
    context->set_materialize_grads(false);
    const auto samples = static_cast<std::int64_t>(rows->rows.size());
    return {with_samples(x, samples), with_samples(x, samples), x.detach()};
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const auto capsule = context->saved_data["rows"].toCapsule();
    const SampleRows& rows = *static_cast<const KeptRows&>(*capsule).rows;
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : {errors[0], errors[1]}) {
      if (part.defined()) parts.push_back(dense(part));
    }
    if (parts.empty()) return {errors[2], {}, {}};
    const at::Tensor sum = mutable_sum(errors[2], parts.front(), rows);
    const bool all = context->saved_data["all"].toBool() && errors[2].defined();
    TORCH_INTERNAL_ASSERT(!all || parts.size() == 1);
    const at::Tensor added = parts.size() > 1 ? parts[1] : at::Tensor();
    activate(grid_of(parts[0]),
             {.y = view_of(parts[0]), .residual = all ? view_of(sum, &rows.rows) : view_of(added)},
             mutable_view_of(sum, &rows.rows), nullptr);
    return {sum, {}, {}};
  }

  struct KeptRows : torch::CustomClassHolder {
    explicit KeptRows(Rows r) : rows(std::move(r)) {}
    Rows rows;
  };
};

std::vector<int> others(const SampleRows& rows) {
  std::vector<int> all(static_cast<std::size_t>(rows.batch)), result;
  std::iota(all.begin(), all.end(), 0);
  std::ranges::set_difference(all, rows.rows, std::back_inserter(result));
  return result;
}

void copy_samples(const at::Tensor& from, const at::Tensor& to, const std::vector<int>& rows) {
  if (rows.empty()) return;
  const at::Tensor some = with_samples(from, static_cast<std::int64_t>(rows.size()));
  activate(grid_of(some), {.y = view_of(some, &rows)}, mutable_view_of(to, &rows), nullptr);
}

struct JoinInPlace : Function<JoinInPlace> {
  struct Call : torch::CustomClassHolder {
    Rows rows;
    float gradient_scale;
    std::shared_ptr<MadeAgain> skipped, whole;  // may be null
  };

  static at::Tensor forward(AutogradContext* context, const at::Tensor& skipped,
                            const at::Tensor& passed, const at::Tensor&,
                            const c10::intrusive_ptr<Call>& call) {
    const at::Tensor whole = with_samples(passed, call->rows->batch);
    const std::vector<int> rest = others(*call->rows);
    copy_samples(skipped, whole, rest);
    if (call->whole != nullptr && !rest.empty()) {
      call->whole->add(
          [rest, from = skipped.detach(), to = whole.detach()] { copy_samples(from, to, rest); });
    }
    // Both are kept by others too: as the input of this block and of the next.
    context->save_for_backward({skipped, whole});
    context->saved_data["call"] = c10::IValue::make_capsule(call);
    return whole;
  }
  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["call"].toCapsule();
    const Call& call = static_cast<const Call&>(*capsule);
    for (const auto& again : {call.skipped, call.whole}) {
      if (again != nullptr) again->have();
    }
    const SampleRows& rows = *call.rows;
    const at::Tensor error = dense(errors[0]);
    const auto samples = static_cast<std::int64_t>(rows.rows.size());
    const at::Tensor lost = difference(saved[0], with_samples(saved[1], samples), &rows.rows);
    std::vector<float> worth(rows.rows.size());
    image_products(grid_of(lost), view_of(error, &rows.rows), view_of(lost), worth.data());
    const at::Tensor skip = at::zeros({error.size(0)});
    float* const of_samples = skip.data_ptr<float>();
    for (std::size_t i = 0; i < worth.size(); ++i)
      of_samples[rows.rows[i]] = worth[i] / call.gradient_scale;
    return {error, with_samples(error, samples), skip, {}};
  }
};

}  // namespace

at::Tensor with_samples(const at::Tensor& x, std::int64_t samples) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[0] = samples;
  const at::NoGradGuard no_grad;
  return at::empty({0}, x.options()).set_(x.storage(), x.storage_offset(), sizes, x.strides());
}

at::Tensor room_for_samples(const at::Tensor& x, std::int64_t batch) {
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[0] = batch;
  return with_samples(at::empty(sizes, x.options(), at::MemoryFormat::ChannelsLast), x.size(0));
}

SplitSamples split_samples(const at::Tensor& x, const Rows& rows, Around around) {
  const variable_list handles = SplitFunction::apply(x, rows, around);
  return {handles[0], handles[1], handles[2]};
}

UnitTensor join_in_place(const UnitTensor& skipped, const UnitTensor& passed,
                         const at::Tensor& skip) {
  auto call = c10::make_intrusive<JoinInPlace::Call>();
  call->rows = passed.rows;
  call->gradient_scale = skipped.gradient_scale;
  call->skipped = again_of(skipped);
  call->whole = again_of(passed);
  UnitTensor result{.values = JoinInPlace::apply(skipped.values, passed.values, skip, call),
                    .stored = passed.stored,
                    .gradient_scale = skipped.gradient_scale};
  const std::vector<int>& rows = passed.rows->rows;
  if (static_cast<std::int64_t>(rows.size()) < passed.rows->batch) {
    result.sample_ranges = skipped.sample_ranges;
    if (result.sample_ranges.empty()) return result;
  } else {
    result.sample_ranges.resize(rows.size());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.sample_ranges[static_cast<std::size_t>(rows[i])] = passed.sample_ranges[i];
  }
  return result;
}

at::Tensor select_samples(const at::Tensor& x, const std::vector<int>& rows) {
  return SelectFunction::apply(x, index_of(rows, x.device()));
}

at::Tensor join_samples(const at::Tensor& skipped, const at::Tensor& passed, const at::Tensor& skip,
                        const SkipCall& call) {
  return JoinFunction::apply(skipped, passed, skip, index_of(call.rows, skipped.device()),
                             double{call.gradient_scale});
}

}  // namespace bitcycle
