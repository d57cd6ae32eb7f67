// Runs whose precision follows their loss.

#include "bitcycle/events/metrics_file.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/tensor_io.h"

#include "train/trainer_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

class StagedRunsTest : public TrainerTest {};

// Two periods of a stage each; 8 steps an epoch.
Recipe staged_recipe() {
  Recipe recipe = small_recipe();
  recipe.precision.progressive.emplace();
  recipe.precision.progressive->forward = {3, 8};
  recipe.precision.progressive->backward = {6, 8};
  recipe.precision.progressive->epsilon = 100;
  recipe.precision.progressive->window = 2;
  recipe.precision.progressive->period = 3;
  recipe.evaluation.bits = "current";
  return recipe;
}

TEST_F(StagedRunsTest, StagesAreInTheLogAndInTheSummaryAndCostWhatTheySay) {
  const fs::path run = train("run", staged_recipe());
  const std::string log = text(run / "metrics.jsonl"), summary = text(run / "summary.json");
  EXPECT_THAT(log, HasSubstr(R"({"type":"stage","step":6,"from":"3/6","to":"8/8",)"));
  EXPECT_THAT(summary, HasSubstr(R"("stages": [)"));
  EXPECT_THAT(summary, HasSubstr(R"("difference": )"));
  const auto steps = logged_steps(run);
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[1].step, 6);
  EXPECT_EQ(steps[1].bits, (LayerBits{3, 3, 6}));
  EXPECT_EQ(steps[2].bits, (LayerBits{8, 8, 8}));
  // Six of sixteen steps at (3^2 + 2 * 3 * 6) / (8^2 + 2 * 8 * 8) of the cost.
  EXPECT_NEAR(steps.back().gbitops / steps.back().gbitops_static, (6 * 45.0 / 192 + 10) / 16,
              1e-12);
}

// Evaluations are every four steps, the stage changes after six: the best weights are scored again
// at the end, at the bits that they had.
TEST_F(StagedRunsTest, WeightsOfAnEarlierStageAreScoredAtItsBits) {
  Recipe recipe = staged_recipe();
  recipe.steps = 8;
  recipe.epochs = 0;
  const fs::path run = train("run", recipe);
  Session session(recipe, run);
  CheckpointStore store(run);
  const auto score_at = [&](Step step, int bits) {
    CheckpointFiles files = store.load(step);
    restore_tensors(std::move(files["model.safetensors"]), "a checkpoint",
                    model_state(session.model()));
    return session.score(Split::validation, {EvaluationBits::Kind::fixed, bits}, step - 1)
        .value("loss");
  };
  const auto logged =
      logged_evaluations(run, "validation", "loss", text(run / "metrics.jsonl").size());
  ASSERT_EQ(logged.size(), 2U);
  EXPECT_EQ(logged[0].value, score_at(4, 3));
  EXPECT_EQ(logged[1].value, score_at(8, 8));
  EXPECT_NE(logged[0].value, score_at(4, 8));
}

TEST_F(StagedRunsTest, AStageSurvivesAStopAtEveryStep) {
  Recipe recipe = staged_recipe();
  recipe.steps = 8;
  recipe.epochs = 0;
  expect_same_bytes(train("whole", recipe), train_with_stops("run", recipe, every_step_to(7)));
}

}  // namespace
}  // namespace bitcycle
