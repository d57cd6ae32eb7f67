// Runs that find the bounds of their precision by a range test.

#include "bitcycle/config/backend.h"
#include "bitcycle/config/range_policy.h"
#include "bitcycle/events/metrics_file.h"

#include "train/trainer_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using testing::HasSubstr;

class RangeRunsTest : public TrainerTest {};

// Blocks of two steps; the shortest test takes 18, one that leaves both widths undecided 34.
Recipe tested_recipe(PrecisionRecipe::Backend backend = PrecisionRecipe::Backend::simulate) {
  Recipe recipe = small_recipe();
  recipe.epochs = 0;
  recipe.steps = 40;
  recipe.log_every = 1;
  recipe.precision.backend = backend;
  recipe.precision.forward = {.name = "auto"};
  RangeTestRecipe& test = recipe.precision.range_test.emplace();
  test.from = 6;
  test.cycles = 1;
  test.block = 2;
  test.pairs = 4;
  test.ready = 0;
  return recipe;
}

// The bits of every step, by the log.
std::vector<LayerBits> logged_bits(const fs::path& run) {
  std::vector<LayerBits> bits;
  for (const LoggedStep& step : logged_steps(run)) bits.push_back(step.bits);
  return bits;
}

TEST_F(RangeRunsTest, EveryBackendTestsWithinTheRunAndTellsOfIt) {
  for (const auto backend : {Backend::simulate, Backend::integer, Backend::automatic}) {
    const Recipe recipe = tested_recipe(backend);
    const fs::path run = train("run" + name(backend), recipe);
    const auto changes = logged_stages(run, text(run / "metrics.jsonl").size());
    ASSERT_GE(changes.size(), 2U);
    EXPECT_EQ(changes.front().to, "6 and 8/8");
    EXPECT_THAT(changes.back().to, HasSubstr("cosine "));
    EXPECT_THAT(text(run / "summary.json"), HasSubstr(R"("to": "6 and 8/8")"));
    // What the log says of each step follows from what was told.
    const RangePlans plans(recipe.precision, {}, {40, 8});
    const RangeTest::Phases phases = plans.phases(changes);
    const std::vector<LayerBits> bits = logged_bits(run);
    ASSERT_EQ(bits.size(), 40U);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      EXPECT_EQ(bits[i], plans.decide(phases, static_cast<Step>(i)).common) << i;
    }
  }
}

// A step at b bits costs (b^2 + 2 b 8) / (8^2 + 2 8 8) of static 8/8, in the test as elsewhere.
TEST_F(RangeRunsTest, TheStepsOfTheTestCostWhatTheirBitsCost) {
  const fs::path run = train("run", tested_recipe());
  double cost = 0;
  for (const LayerBits& bits : logged_bits(run)) {
    cost += (bits.weight * bits.weight + 2.0 * bits.weight * 8) / 192 / 40;
  }
  const LoggedStep last = logged_steps(run).back();
  EXPECT_LT(cost, 1);
  EXPECT_NEAR(last.gbitops / last.gbitops_static, cost, 1e-12);
}

TEST_F(RangeRunsTest, ATestSurvivesAStopAtEveryStep) {
  const Recipe recipe = tested_recipe();
  expect_same_bytes(train("whole", recipe), train_with_stops("run", recipe, every_step_to(39)));
}

TEST_F(RangeRunsTest, PractisingWritesNothingAndGivesTheSameSteps) {
  const Recipe recipe = tested_recipe();
  const fs::path run = train("run", recipe);
  std::vector<double> losses;
  Trainer trainer(recipe, root_ / "nowhere");
  const auto sinks = calling({.step = [&](const StepReport& report) {
    for (const auto& [metric, value] : report.metrics) {
      if (metric.name == "loss") losses.push_back(value);
    }
  }});
  const auto outcome = trainer.practise(StopSignal(), sinks, [&] { return losses.size() == 20; });
  EXPECT_EQ(outcome, TrainOutcome::finished);
  EXPECT_EQ(trainer.step(), 20);
  EXPECT_FALSE(fs::exists(root_ / "nowhere"));
  const std::string log = text(run / "metrics.jsonl");
  for (const double loss : losses) {
    nlohmann::json number = loss;
    EXPECT_THAT(log, HasSubstr("\"loss\":" + number.dump()));
  }
}

}  // namespace
}  // namespace bitcycle
