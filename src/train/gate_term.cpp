#include "bitcycle/train/gate_term.h"

#include <numeric>

namespace bitcycle {
void add_choices(ChoiceCounts& to, const ChoiceCounts& from) {
  if (to.empty()) to.assign(from.size(), {});
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].resize(from[i].size());
    for (std::size_t k = 0; k < from[i].size(); ++k) to[i][k] += from[i][k];
  }
}

std::vector<std::vector<double>> choice_shares(const ChoiceCounts& counts) {
  std::vector<std::vector<double>> shares = counts;
  for (std::vector<double>& block : shares) {
    const double samples = std::accumulate(block.begin(), block.end(), 0.0);
    for (double& share : block) share /= samples;
  }
  return shares;
}

ChoiceCounts count_choices(const GatesImpl& gates) {
  ChoiceCounts counts;
  for (const GateChoice& choice : gates.choices()) {
    counts.push_back(counts_of(choice, gates.options()));
  }
  return counts;
}

// R with its graph: the masks stand for the choices.
at::Tensor GateTerm::regulariser() const {
  const GateObjective& objective = policy_.objective();
  std::vector<at::Tensor> masks;
  for (const GateChoice& choice : gates_.choices()) masks.push_back(choice.mask);
  const at::Tensor stacked = at::stack(masks);  // [blocks, samples, options]
  const auto tensor = [&](const std::vector<double>& from) {
    return at::tensor(from, at::kFloat).to(stacked.device());
  };
  const at::Tensor weights = tensor(objective.weights().blocks).view({-1, 1, 1});
  return (stacked * (weights * tensor(objective.costs()))).sum({1, 2}).sum() *
         objective.coefficient();
}

void GateTerm::add_to(TaskLoss& result, Step step) {
  const ChoiceCounts counts = count_choices(gates_);
  const DynamicRecipe& recipe = policy_.recipe();
  const double cp = policy_.objective().cp(counts);
  const at::Tensor cost = regulariser();
  double factor = steering(recipe, cp, policy_.target(step));
  if (recipe.ada_beta) {
    factor *= ada_beta_factor(cost.item<double>(), result.loss.item<double>());
  }
  result.loss = result.loss + cost * factor;
  result.metrics += MetricSums{{"cp", cp * result.work, result.work},
                               {"total_loss", result.loss.item<double>(), 1.0}};
  add_choices(counts_, counts);
  gates_.forget();
}

}  // namespace bitcycle
