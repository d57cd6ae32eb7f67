#include "bitcycle/quant/cross_entropy_function.h"

#include "bitcycle/kernels/cross_entropy.h"

#include "quant/dense.h"
#include "quant/first_derivative.h"

namespace bitcycle {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kNoTarget = -100;  // LibTorch's own choice

ScoreRows rows_of(const at::Tensor& scores) {
  return {scores.data_ptr<float>(), scores.size(0), scores.size(1)};
}

std::span<const std::int64_t> words_of(const at::Tensor& targets) {
  return {targets.data_ptr<std::int64_t>(), static_cast<std::size_t>(targets.numel())};
}

struct CrossEntropyFunction : torch::autograd::Function<CrossEntropyFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_scores,
                            const at::Tensor& any_targets, std::int64_t ignored) {
    const at::Tensor scores = dense(any_scores), targets = dense(any_targets);
    const at::Tensor counted = targets.ne(ignored);
    const at::Tensor weights = counted.to(at::kFloat) / counted.sum();
    at::Tensor sums = at::empty({scores.size(0)});
    log_sums(rows_of(scores), values(sums));
    context->save_for_backward({scores, targets, weights, sums});
    const at::Tensor of_targets = scores.gather(1, targets.mul(counted).unsqueeze(1)).squeeze(1);
    return total(sums - of_targets, weights);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    expect_first_derivative();
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &scores = saved[0], &targets = saved[1];
    const at::Tensor weights = saved[2] * errors[0], &sums = saved[3];
    const at::Tensor gradient = at::empty_like(scores);
    cross_entropy_gradient(rows_of(scores), values(sums), words_of(targets), values(weights),
                           gradient.data_ptr<float>());
    return {gradient, {}, {}};
  }

  // In double and in order, so that no number of threads changes it. A row that does not count
  // adds nothing, unless it is not finite.
  static at::Tensor total(const at::Tensor& losses, const at::Tensor& weights) {
    double sum = 0;
    for (std::int64_t i = 0; i < losses.numel(); ++i) {
      sum += double{losses.data_ptr<float>()[i]} * weights.data_ptr<float>()[i];
    }
    return at::full({}, sum, at::kFloat);
  }
};

}  // namespace

at::Tensor mean_cross_entropy(const at::Tensor& scores, const at::Tensor& targets,
                              std::optional<std::int64_t> ignored) {
  const std::int64_t skipped = ignored.value_or(kNoTarget);
  if (!scores.is_cpu() || scores.scalar_type() != at::kFloat) {
    return at::cross_entropy_loss(scores, targets, {}, at::Reduction::Mean, skipped);
  }
  return CrossEntropyFunction::apply(scores, targets, skipped);
}

}  // namespace bitcycle
