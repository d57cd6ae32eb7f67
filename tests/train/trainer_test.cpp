#include "bitcycle/train/trainer.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/tasks/task.h"
#include "bitcycle/train/session.h"

#include "train/trainer_testing.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(TrainerTest, LearnsAndLeavesACompleteRunDirectory) {
  std::vector<double> losses;
  const fs::path run = root_ / "run";
  fs::create_directories(run);
  Recipe recipe = small_recipe();
  recipe.epochs = 8;
  Trainer trainer(recipe, run, calling({.step = [&](const StepReport& report) {
                    if (report.logged) losses.push_back(report.metrics.at(0).value);
                  }}));
  EXPECT_EQ(trainer.total_steps(), 64);
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_LT(losses.back(), 0.8 * losses.front());
  EXPECT_THAT(text(run / "metrics.jsonl"), HasSubstr("\"split\":\"validation\""));
  EXPECT_THAT(text(run / "summary.json"), HasSubstr("\"saving_percent\""));
  EXPECT_EQ(CheckpointStore(run).latest(), 64);
  EXPECT_TRUE(CheckpointStore(run).best().has_value());
}

TEST_F(TrainerTest, StoppedAnywhereAndResumedEndsInTheSameBytes) {
  const Recipe recipe = small_recipe();
  expect_same_bytes(train("whole", recipe), train_with_stops("run", recipe, {1, 4, 7, 15}));
}

// Behind the n-th evaluation of the last step; behind the 0th is in the first.
Callbacks stop_in_final_evaluations(Step total, int n) {
  Callbacks callbacks;
  callbacks.step = [=](const StepReport& report) {
    if (n == 0 && report.step == total) std::raise(SIGINT);
  };
  callbacks.evaluation = [=, seen = 0](const EvaluationReport& report) mutable {
    if (report.step == total && ++seen == n) std::raise(SIGINT);
  };
  return callbacks;
}

TEST_F(TrainerTest, StoppedInItsFinalEvaluationsStopsAtOnceAndMakesThemOnResume) {
  Recipe recipe = small_recipe();
  recipe.epochs = 1;
  fs::path whole;
  // Until the best weights are not the last, so that both are tested.
  for (recipe.seed = 1; recipe.seed <= 20; ++recipe.seed) {
    whole = train("seed" + std::to_string(recipe.seed), recipe);
    if (CheckpointStore(whole).best() == 4) break;
  }
  ASSERT_EQ(CheckpointStore(whole).best(), 4);
  for (const int n : {0, 1, 2}) {
    const fs::path run = root_ / ("stop" + std::to_string(n));
    for (int attempt = 0; attempt < 2; ++attempt) {  // the second time before anything is evaluated
      const StopSignal stop;
      Trainer trainer(recipe, run, calling(stop_in_final_evaluations(8, n)));
      EXPECT_EQ(trainer.resume(), attempt == 1);
      if (attempt == 1) std::raise(SIGINT);
      EXPECT_EQ(trainer.run(stop), TrainOutcome::stopped) << n;
      EXPECT_EQ(trainer.step(), 8);
      EXPECT_FALSE(fs::exists(run / "summary.json"));
    }
    resume(run, recipe);
    expect_same_bytes(whole, run);
  }
}

TEST_F(TrainerTest, AnEvaluationOfPicturesIsCutShortBetweenBatchesAndChangesNothing) {
  Session session(short_recipe());
  const EvaluationBits bits = parse_evaluation_bits("max");
  const double whole = session.score(Split::test, bits, 0).value("loss");
  int calls = 0;
  const auto stop_at_third = [&] {
    if (++calls == 3) throw Stopped();
  };
  EXPECT_THROW(session.score(Split::test, bits, 0, stop_at_third), Stopped);
  EXPECT_TRUE(session.model().is_training());
  EXPECT_EQ(session.score(Split::test, bits, 0).value("loss"), whole);
}

// Of a run that was stopped and resumed: behind everything else.
TEST_F(TrainerTest, TellsItsEndOnceAndLast) {
  const Recipe recipe = short_recipe();
  std::vector<std::string> told;
  std::vector<double> tests;
  RunFinish end;
  const EventSinks sinks = calling(
      {.step = [&](const StepReport& report) { told.push_back(std::to_string(report.step)); },
       .evaluation =
           [&](const EvaluationReport& report) {
             told.push_back(report.split);
             if (report.split == "test") tests.push_back(report.score.value("loss"));
           },
       .finish =
           [&](const RunFinish& finish) {
             told.push_back("finish");
             end = finish;
           }});
  const fs::path run = train_and_stop("run", recipe, 2);
  Trainer trainer(recipe, run, sinks);
  ASSERT_TRUE(trainer.resume());
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_EQ(told.back(), "finish");
  EXPECT_EQ(std::ranges::count(told, "finish"), 1);
  EXPECT_EQ(end.step, 4);
  EXPECT_EQ(end.best_step, CheckpointStore(run).best());
  EXPECT_EQ(end.test.value("loss"), tests.front());
  EXPECT_EQ(end.test_of_best.value("loss"), tests.back());
}

TEST_F(TrainerTest, NeitherThreadsNorWorkersChangeAByte) {
  Recipe recipe = small_recipe();
  recipe.threads = 1;
  recipe.data.workers = 0;
  const fs::path one = train("one", recipe);
  recipe.threads = 3;
  recipe.data.workers = 3;
  fs::path three = train("three", recipe);
  write_file(three / "recipe.toml", text(one / "recipe.toml"));  // it names threads and workers
  expect_same_bytes(one, three);
}

TEST_F(TrainerTest, ExecutedInIntegersNothingChangesAByteEither) {
  Recipe recipe = small_recipe();
  recipe.precision.backend = PrecisionRecipe::Backend::integer;
  recipe.threads = 1;
  const fs::path whole = train("whole", recipe);
  recipe.threads = 2;
  const fs::path run = train_and_stop("stopped", recipe, 7);
  resume(run, recipe);
  write_file(run / "recipe.toml", text(whole / "recipe.toml"));  // it names the threads
  expect_same_bytes(whole, run);
}

TEST_F(TrainerTest, AutomaticIsIntegerWhereItCanBeAndStaysSoOnResume) {
  Recipe recipe = short_recipe();
  recipe.precision.backend = Backend::integer;
  const fs::path integer = train("integer", recipe);
  recipe.precision.backend = Backend::automatic;
  const fs::path run = train_and_stop("automatic", recipe, 2);
  resume(run, recipe);
  EXPECT_THAT(text(run / "metrics.jsonl"),
              StartsWith(R"({"type":"run","step":0,"backend":"integer","counting":"paper",)"));
  write_file(run / "recipe.toml", text(integer / "recipe.toml"));  // it names the backend
  expect_same_bytes(integer, run);
}

TEST_F(TrainerTest, AutomaticSimulatesWhereALayerCannotBeExecutedAndSaysWhy) {
  Recipe recipe = short_recipe();
  recipe.precision.backward = {.min = 17, .max = 17};
  recipe.precision.backend = Backend::simulate;
  const fs::path simulated = train("simulated", recipe);
  recipe.precision.backend = Backend::automatic;
  const fs::path run = train("automatic", recipe);
  EXPECT_THAT(text(run / "summary.json"), HasSubstr(R"("backend": "simulate")"));
  EXPECT_THAT(Trainer(recipe, run).notices(),
              testing::ElementsAre(HasSubstr("layer conv1 has 17-bit errors")));
  write_file(run / "recipe.toml", text(simulated / "recipe.toml"));  // it names the backend
  expect_same_bytes(simulated, run);
}

TEST_F(TrainerTest, MobileNetAndAdamAreResumedExactlyToo) {
  Recipe recipe = small_recipe();
  recipe.model.name = "cifar_mobilenet_v2";
  recipe.optimizer = {.name = OptimizerRecipe::Name::adam, .lr = 0.001};
  recipe.epochs = 0;
  recipe.steps = 4;
  recipe.data.limit = 64;
  const fs::path whole = train("whole", recipe);
  const fs::path run = train_and_stop("stopped", recipe, 3);
  resume(run, recipe);
  expect_same_bytes(whole, run);
}

enum class Way { simulated, simulated_in_integers, executed };

Recipe by_way(Recipe recipe, Way way) {
  using Precision = PrecisionRecipe;
  if (way == Way::executed) recipe.precision.backend = Precision::Backend::integer;
  if (way == Way::simulated_in_integers) recipe.precision.scheme = SchemeName::integer;
  return recipe;
}

constexpr Way kWays[] = {Way::simulated, Way::simulated_in_integers, Way::executed};

// The last model of a run, byte for byte.
std::vector<std::byte> last_model(const fs::path& run) {
  const CheckpointStore store(run);
  return store.load(store.latest().value()).at("model.safetensors");
}

TEST_F(TrainerTest, EvaluatingChangesNoByteOfTheModel) {
  for (const Way way : kWays) {
    Recipe recipe = by_way(short_recipe(), way);
    recipe.data.limit = 64;
    recipe.evaluation.every_epochs = 0;
    const auto once = last_model(train("once" + std::to_string(int(way)), recipe));
    recipe.evaluation.every_epochs = 0.5;  // after every step
    EXPECT_TRUE(last_model(train("often" + std::to_string(int(way)), recipe)) == once);
  }
}

std::string divergence(const std::function<void()>& training) {
  try {
    training();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diverged);
    return error.what();
  }
  return "";
}

bool is_finite(const fs::path& run) {
  for (const auto& [name, tensor] : decode_safetensors(last_model(run), "model").tensors) {
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    if (tensor.type != DataType::f32) continue;
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    for (const float value : values) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

TEST_F(TrainerTest, ErrorsOfTwelveBitsAreExecutedAndResumedExactly) {
  Recipe recipe = short_recipe();
  recipe.data.limit = 64;
  recipe.precision.forward = {.min = 8, .max = 8};
  recipe.precision.backward = {.min = 12, .max = 12};
  recipe.precision.backend = Backend::integer;
  const fs::path whole = train("whole", recipe);
  const fs::path run = train_and_stop("stopped", recipe, 3);
  resume(run, recipe);
  expect_same_bytes(whole, run);
  EXPECT_TRUE(is_finite(run));
  EXPECT_THAT(Trainer(recipe, run).notices(), testing::IsEmpty());
  EXPECT_THAT(text(run / "summary.json"), HasSubstr(R"("backend": "integer")"));
}

// A run that ends just before the step that is named has finite weights; with that step it
// diverges.
TEST_F(TrainerTest, DivergenceIsReportedAtTheStepWhereItHappensUnderEveryExecutor) {
  for (const Way way : kWays) {
    SCOPED_TRACE(int(way));
    Recipe recipe = by_way(short_recipe(), way);
    recipe.steps = 300;
    recipe.optimizer.lr = 1000;
    recipe.precision.forward = {.min = 8, .max = 8};  // so that bits do not depend on the length
    recipe.lr_schedule.name = LearningRateRecipe::Name::constant;
    recipe.evaluation.every_epochs = 0;
    recipe.checkpoint.every_epochs = 0;
    const std::string message = divergence([&] { train("all", recipe); });
    fs::remove_all(root_ / "all");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(message, found, std::regex("step ([0-9]+)"))) << message;
    const Step step = std::stoll(found[1]);
    ASSERT_GT(step, 1);
    ASSERT_LT(step, 20);
    recipe.steps = step - 1;
    const fs::path run = train("before", recipe);
    EXPECT_TRUE(is_finite(run));
    fs::remove_all(run);
    recipe.steps = step;
    EXPECT_NE(divergence([&] { train("with", recipe); }), "");
    fs::remove_all(root_ / "with");
  }
}

TEST_F(TrainerTest, DivergenceNamesLayerAndLastGoodCheckpoint) {
  Recipe recipe = small_recipe();
  recipe.optimizer.lr = 1e6;
  recipe.evaluation.every_epochs = 0;
  recipe.checkpoint.every_epochs = 0.125;  // every step
  const std::string message = divergence([&] { train("run", recipe); });
  std::smatch found;
  ASSERT_TRUE(std::regex_search(message, found, std::regex("\"([a-z0-9.]+)\""))) << message;
  const std::string named = found[1];
  bool known = false;
  for (const Node& node : make_network("cifar_resnet8").nodes) {
    known |= node.has_weights() && (named.starts_with(node.name) ||
                                    (!node.norm_name.empty() && named.starts_with(node.norm_name)));
  }
  EXPECT_TRUE(known) << named;
  const Step latest = CheckpointStore(root_ / "run").latest().value();
  EXPECT_THAT(message, HasSubstr("stopped at step " + std::to_string(latest + 1)));
  EXPECT_THAT(message, HasSubstr(CheckpointStore(root_ / "run").directory(latest).string()));
}

// The same weights, evaluated at several precisions: names that mean the same bits give the same
// loss, other bits another one.
TEST_F(TrainerTest, EvaluationPrecisionIsTheRecipes) {
  Recipe recipe = small_recipe();
  recipe.epochs = 0;
  recipe.steps = 2;
  recipe.precision.forward = {.name = "CR", .min = 5, .max = 8, .cycles = 1};
  std::map<std::string, double> loss;
  for (const std::string wanted : {"max", "current", "fp", "8", "6", "5"}) {
    recipe.evaluation.bits = wanted;
    const fs::path run = root_ / wanted;
    fs::create_directories(run);
    Trainer trainer(recipe, run, calling({.evaluation = [&](const EvaluationReport& report) {
                      EXPECT_EQ(report.bits, wanted);
                      EXPECT_GT(report.score.count, 0);
                      loss[wanted] = report.score.value("loss");
                    }}));
    trainer.run(StopSignal());
  }
  const PrecisionPlan plan(recipe.precision, layers_of(make_network("cifar_resnet8")), {2, 8});
  const int current = plan.decide(1).common.weight;
  ASSERT_TRUE(current == 6 || current == 5) << current;
  EXPECT_EQ(loss["max"], loss["8"]);
  EXPECT_EQ(loss["current"], loss[std::to_string(current)]);
  EXPECT_NE(loss["8"], loss["6"]);
  EXPECT_NE(loss["6"], loss["5"]);
  EXPECT_NE(loss["8"], loss["fp"]);
}

// 80 pictures in batches of 32, 32 and 16.
TEST_F(TrainerTest, ARehearsalKnowsThatEpochsEndInASmallerBatch) {
  Recipe recipe = short_recipe();
  recipe.data.limit = 80;
  const auto task = open_task(recipe, at::kCPU);
  ASSERT_EQ(task->batches_per_epoch(), 3);
  EXPECT_EQ(task->work_of_batches(2), 64);
  EXPECT_EQ(task->work_of_batches(3), 80);
  EXPECT_EQ(task->work_of_batches(7), 192);
  const Rehearsal rehearsal = Trainer(recipe, root_ / "none").rehearse(2);
  EXPECT_THAT(rehearsal.run_work, testing::ElementsAre(32, 32, 16, 32));
  EXPECT_EQ(rehearsal.work, 48);  // 16 and 32, behind two that are not timed
}

}  // namespace
}  // namespace bitcycle
