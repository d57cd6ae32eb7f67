#include "bitcycle/cost/run_cost.h"

#include "bitcycle/cost/latency.h"
#include "bitcycle/network/zoo.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// 3, 4, 5, 3, 4, 5, ...
Schedule sawtooth() {
  return Schedule([](Step step) { return 3.0 + static_cast<double>(step % 3); });
}

Schedule constant(int bits) {
  return Schedule([bits](Step) { return static_cast<double>(bits); });
}

TEST(RunCostTest, CountsTheStepsAtEachCombinationOfBits) {
  const auto uses = bits_used(sawtooth(), constant(8), 8);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].bits, (LayerBits{3, 3, 8}));
  EXPECT_EQ(uses[0].steps, 3);
  EXPECT_EQ(uses[1].steps, 3);
  EXPECT_EQ(uses[2].bits, (LayerBits{5, 5, 8}));
  EXPECT_EQ(uses[2].steps, 2);
}

TEST(RunCostTest, EqualsTheSumOverTheSteps) {
  for (const std::string& rule : counting_names()) {
    const CostModel model(layers_of(make_network("resnet18")), counting_by_name(rule));
    PassCost by_step;
    for (Step step = 0; step < 20; ++step) {
      by_step += model.sample_cost(layer_bits(sawtooth().bits(step), 8)) * 4;
    }
    const RunCost cost = run_cost(model, bits_used(sawtooth(), constant(8), 20), 4);
    EXPECT_EQ(cost.total.forward, by_step.forward);
    EXPECT_EQ(cost.total.error, by_step.error);
    EXPECT_EQ(cost.total.weight_gradient, by_step.weight_gradient);
    PassCost by_layer;
    for (const PassCost& layer : cost.layers) by_layer += layer;
    EXPECT_EQ(by_layer.total(), cost.total.total());
  }
}

TEST(RunCostTest, MeansCountFloatAsThirtyTwoBits) {
  const MeanBits mean = mean_bits(bits_used(sawtooth(), constant(0), 4));
  EXPECT_DOUBLE_EQ(mean.weight, (3 + 4 + 5 + 3) / 4.0);
  EXPECT_DOUBLE_EQ(mean.activation, mean.weight);
  EXPECT_DOUBLE_EQ(mean.error, 32);
}

TEST(RunCostTest, NoStepsCostNothing) {
  const CostModel model(layers_of(make_network("cifar_resnet8")), Counting::paper);
  EXPECT_EQ(run_cost(model, {}, 128).total.total(), 0);
  EXPECT_EQ(mean_bits({}).weight, 0);
}

TEST(LatencyTest, IsLinearInTheMeanWidth) {
  // 25.6e9 MACs at 8 bits take a second a pass; there are three passes.
  EXPECT_DOUBLE_EQ(modelled_hours_zc706(25'600'000'000, 1200, {8, 8, 8}), 1);
  EXPECT_DOUBLE_EQ(modelled_hours_zc706(25'600'000'000, 1200, {4, 4, 4}), 0.5);
  EXPECT_DOUBLE_EQ(modelled_hours_zc706(25'600'000'000, 1200, {6, 2, 4}), 0.5);
}

}  // namespace
}  // namespace bitcycle
