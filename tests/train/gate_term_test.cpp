// The term that choices add to the loss, and its gradient, against the formula of FracTrain's
// objective written down here a second time, on a network whose blocks weigh differently.

#include "bitcycle/train/gate_term.h"

#include "bitcycle/network/zoo.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

constexpr std::int64_t kSamples = 24;
constexpr int kWeight = 4;
const std::vector<PrecisionOption> kOptions = {{3, 6}, {4, 8}, {6, 12}};

const Network& network() {
  static const Network instance = gated(make_network("cifar_mobilenet_v2"), 3);
  return instance;
}

double cost_of(PrecisionOption option) {
  return (option.activation * kWeight + option.error * kWeight + option.activation * option.error) /
         1024.0;
}

struct Weights {
  std::vector<double> blocks;
  double sum = 0, depthwise = 0;
};

Weights weights() {
  Weights result{std::vector<double>(network().blocks.size())};
  for (const LayerInfo& layer : layers_of(network())) {
    const double flops = 2.0 * static_cast<double>(layer.macs);
    if (matches(layer, "@depthwise")) result.depthwise += flops;
    if (layer.block < 0) continue;
    result.blocks[static_cast<std::size_t>(layer.block)] += flops;
    result.sum += flops;
  }
  return result;
}

// A pass through the gates: the masks, whose gradients are kept, and the sums of the objective.
struct Chosen {
  std::vector<at::Tensor> masks;
  double weighted = 0;  // over samples and blocks, w_l * cost

  double cp() const {
    const Weights w = weights();
    const double depthwise = w.depthwise * (8 * kWeight + 16 * kWeight + 8 * 16) / 1024.0;
    return 100 * (weighted / kSamples + depthwise) / (3 * (w.sum + w.depthwise));
  }
};

Chosen choose(Gates gates) {
  Chosen chosen;
  const Weights w = weights();
  torch::manual_seed(7);
  gates->start();
  for (std::size_t block = 0; block < gates->blocks(); ++block) {
    const at::Tensor embedding = gates->named_parameters()[std::to_string(block) + ".0.weight"];
    gates->choose(4 * at::randn({kSamples, embedding.size(1)}));
    for (const int option : gates->choices().back().of_sample) {
      chosen.weighted += w.blocks[block] * cost_of(kOptions[static_cast<std::size_t>(option)]);
    }
  }
  for (const GateChoice& choice : gates->choices()) {
    chosen.masks.push_back(choice.mask);
    chosen.masks.back().retain_grad();
  }
  return chosen;
}

struct Case {
  DynamicRecipe::Band band = DynamicRecipe::Band::soft;
  double width = 0;
  double above = 0;  // cp minus the target
  double r = 0;      // expected
};

const Case kCases[] = {
    {DynamicRecipe::Band::soft, 0, -0.1, -1},   {DynamicRecipe::Band::soft, 0, 0.1, 1},
    {DynamicRecipe::Band::soft, 0.5, -0.6, -1}, {DynamicRecipe::Band::soft, 0.5, -0.4, -0.1},
    {DynamicRecipe::Band::soft, 0.5, 0.4, 0.1}, {DynamicRecipe::Band::soft, 0.5, 0.6, 1},
    {DynamicRecipe::Band::flat, 0.5, -0.1, -1}, {DynamicRecipe::Band::flat, 0.5, 0.4, 0},
    {DynamicRecipe::Band::flat, 0.5, 0.6, 1}};

PrecisionRecipe recipe_of(const Case& tried, double target, bool ada_beta, double beta) {
  PrecisionRecipe recipe;
  DynamicRecipe& gates = recipe.dynamic.emplace();
  gates.options = kOptions;
  gates.weight = kWeight;
  gates.target = {target};
  gates.beta = beta;
  gates.band = tried.band;
  gates.band_width = tried.width;
  gates.ada_beta = ada_beta;
  return recipe;
}

// R = beta / mean(w) * sum; capped, it is a tenth of the cross-entropy, and so is its gradient
// scaled.
void expect_formula(const Case& tried, bool ada_beta, double beta, double cross_entropy) {
  Gates gates(network(), 3);
  const Chosen chosen = choose(gates);
  const Weights w = weights();
  const double coefficient = beta / (w.sum / static_cast<double>(w.blocks.size()));
  const double R = coefficient * chosen.weighted;
  const double cap = ada_beta && R > cross_entropy / 10 ? cross_entropy / 10 / R : 1;
  const DynamicPolicy policy(recipe_of(tried, chosen.cp() - tried.above, ada_beta, beta),
                             layers_of(network()), {10, 10});
  GateTerm term(*gates, policy);
  const at::Tensor task = at::full({}, cross_entropy, at::kFloat).requires_grad_();
  TaskLoss result{.loss = task * 1, .work = kSamples};
  term.add_to(result, 0);
  EXPECT_NEAR(result.loss.item<double>(), cross_entropy + tried.r * cap * R,
              1e-5 * (cross_entropy + R));
  result.loss.backward();
  EXPECT_EQ(task.grad().item<double>(), 1);
  for (std::size_t block = 0; block < chosen.masks.size(); ++block) {
    const at::Tensor gradient = chosen.masks[block].grad();
    for (std::size_t k = 0; k < kOptions.size(); ++k) {
      const double expected = tried.r * cap * coefficient * w.blocks[block] * cost_of(kOptions[k]);
      const at::Tensor found = gradient.select(1, static_cast<std::int64_t>(k));
      EXPECT_NEAR(found.min().item<double>(), expected, 1e-5 * std::abs(expected)) << block;
      EXPECT_NEAR(found.max().item<double>(), expected, 1e-5 * std::abs(expected)) << block;
    }
  }
}

TEST(GateTermTest, LossAndGradientFollowTheFormulaInEveryFormOfTheBand) {
  for (const Case& tried : kCases) {
    SCOPED_TRACE(testing::Message() << "band of " << tried.width << ", cp " << tried.above
                                    << " above the target, r " << tried.r);
    for (const double beta : {1e-3, 4e-3}) expect_formula(tried, false, beta, 2.5);
  }
}

// R is about 0.03 here: above a tenth of the first cross-entropy, and below that of the second.
TEST(GateTermTest, AdaBetaCapsTheTermAtATenthOfTheCrossEntropy) {
  for (const Case& tried : kCases) {
    for (const double cross_entropy : {0.05, 2.5}) {
      SCOPED_TRACE(testing::Message() << cross_entropy << ", r " << tried.r);
      expect_formula(tried, true, 1e-3, cross_entropy);
    }
  }
}

TEST(GateTermTest, TheseChoicesDiffer) {
  Gates gates(network(), 3);
  const Chosen chosen = choose(gates);
  std::vector<double> seen(kOptions.size());
  for (const GateChoice& choice : gates->choices()) {
    for (const int option : choice.of_sample) ++seen[static_cast<std::size_t>(option)];
  }
  EXPECT_GT(std::ranges::count_if(seen, [](double count) { return count > 0; }), 1);
  EXPECT_GT(chosen.cp(), 0);
}

}  // namespace
}  // namespace bitcycle
