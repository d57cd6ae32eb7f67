// What a resume makes of a run directory that is not as the run left it.

#include "bitcycle/base/error.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/file.h"
#include "bitcycle/train/trainer.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"
#include "train/callback_sink.h"
#include "train/run_files.h"

#include <csignal>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Step kTotal = 8, kMiddle = 4;

// 4 steps an epoch, two epochs, an evaluation and a checkpoint every second step.
Recipe tiny_recipe(std::uint64_t seed = 1) {
  Recipe recipe = parse_recipe(R"(
    epochs = 2
    threads = 1
    [model]
    name = "cifar_resnet8"
    [data]
    dataset = "synthetic"
    batch_size = 8
    limit = 32
    [precision]
    forward = 8
    [evaluation]
    every_epochs = 0.5
    [checkpoint]
    every_epochs = 0.5
    keep = 2
  )",
                               "tiny.toml");
  recipe.seed = seed;
  return recipe;
}

// The first of the best validations but that of step `without`, up to step `last`.
Step best_step(const fs::path& run, Step without, Step last) {
  Step best = 0;
  double accuracy = -1;
  for (const json& line : lines_of(run, "evaluation")) {
    if (line["split"] != "validation" || line["step"] == without || line["step"] > last) continue;
    if (line["accuracy"] <= accuracy) continue;
    best = line["step"];
    accuracy = line["accuracy"];
  }
  return best;
}

void damage(const fs::path& checkpoint) {
  fs::resize_file(checkpoint / "model.safetensors", 1000);
}

std::map<std::string, std::string> files_and_folders(const fs::path& run) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    if (name == "timing.jsonl") continue;
    files[name] = entry.is_regular_file() ? text_of(read_file(entry.path())) : "";
  }
  return files;
}

class ResumeTest : public testing::Test {
 protected:
  fs::path directory(const std::string& name) {
    fs::create_directories(root_ / name);
    return root_ / name;
  }
  fs::path train(const std::string& name, const Recipe& recipe) {
    const fs::path run = directory(name);
    Trainer(recipe, run).run(StopSignal());
    return run;
  }
  fs::path train_to(Step steps, const std::string& name, const Recipe& recipe) {
    const fs::path run = directory(name);
    const StopSignal stop;
    Trainer(recipe, run,
            calling({.step =
                         [steps](const StepReport& report) {
                           if (report.step == steps) std::raise(SIGTERM);
                         }}))
        .run(stop);
    return run;
  }
  // Returns why best checkpoints were lost.
  std::vector<std::string> resume(const fs::path& run, const Recipe& recipe,
                                  DataChanges changes = DataChanges::refuse) {
    std::vector<std::string> damages;
    Trainer trainer(recipe, run, calling({.lost_best = [&](const LostBestReport& report) {
                      damages.push_back(report.damage);
                    }}));
    EXPECT_TRUE(trainer.resume(changes));
    EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
    return damages;
  }
  Error resume_error(const fs::path& run, const Recipe& recipe) {
    return error_of([&] { Trainer(recipe, run).resume(); });
  }
  // A recipe whose best validation up to step `last` is not that of `last`.
  Recipe recipe_with_early_best(Step last) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const fs::path run = train("seed" + std::to_string(seed), tiny_recipe(seed));
      if (best_step(run, 0, last) != last) return tiny_recipe(seed);
    }
    ADD_FAILURE() << "no seed has an early best";
    return tiny_recipe();
  }

  TemporaryDirectory root_;
};

TEST_F(ResumeTest, WithADamagedBestCheckpointGoesOnWithTheNextBestAndSaysSo) {
  const Recipe recipe = recipe_with_early_best(kMiddle);
  const fs::path run = train_to(kMiddle + 1, "run", recipe);
  const Step lost = CheckpointStore(run).best().value();
  damage(CheckpointStore(run).directory(lost));
  EXPECT_THAT(resume(run, recipe), ElementsAre(HasSubstr("model.safetensors is damaged")));
  const std::vector<json> logged = lines_of(run, "lost_best");
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0]["lost_step"], lost);
  EXPECT_EQ(logged[0]["best_step"], best_step(run, lost, kMiddle));
  EXPECT_EQ(summary_of(run)["lost_best"]["step"], lost);
  EXPECT_EQ(summary_of(run)["best_step"], best_step(run, lost, kTotal));
}

TEST_F(ResumeTest, WithNoOtherWholeCheckpointTheNextEvaluationIsTheBest) {
  Recipe recipe = tiny_recipe();
  const fs::path run = train_to(3, "run", recipe);  // best: 2; stopped at 3, where none was
  damage(CheckpointStore(run).directory(2));
  EXPECT_EQ(resume(run, recipe).size(), 1U);
  EXPECT_EQ(lines_of(run, "lost_best").at(0)["best_step"], 0);
  EXPECT_EQ(summary_of(run)["best_step"], best_step(run, 2, kTotal));
  EXPECT_EQ(CheckpointStore(run).best(), best_step(run, 2, kTotal));
}

TEST_F(ResumeTest, ABestCheckpointDamagedWhileTheRunGoesOnDoesNotStopItsEnd) {
  const Recipe recipe = recipe_with_early_best(kTotal);
  const fs::path run = directory("run");
  Step lost = 0, reported = 0;
  Callbacks callbacks;
  callbacks.step = [&](const StepReport& report) {
    if (report.step != kTotal) return;
    lost = CheckpointStore(run).best().value();
    damage(CheckpointStore(run).directory(lost));
  };
  callbacks.lost_best = [&](const LostBestReport& report) { reported = report.lost_step; };
  EXPECT_EQ(Trainer(recipe, run, calling(callbacks)).run(StopSignal()), TrainOutcome::finished);
  EXPECT_EQ(reported, lost);
  EXPECT_EQ(summary_of(run)["lost_best"]["step"], lost);
  EXPECT_NE(summary_of(run)["best_step"], lost);
  EXPECT_EQ(CheckpointStore(run).damage(CheckpointStore(run).best().value()), "");
}

// What the process itself knows it does not read back from files that others may have damaged.
TEST_F(ResumeTest, NeitherALostLogNorADamagedMarkStopsARunThatGoesOn) {
  const fs::path run = directory("run");
  const auto damage_files = [&](const StepReport& report) {
    if (report.step != kMiddle + 1) return;
    fs::remove(run / "metrics.jsonl");
    write_file(run / "checkpoints/best", "garbage");
  };
  EXPECT_EQ(Trainer(tiny_recipe(), run, calling({.step = damage_files})).run(StopSignal()),
            TrainOutcome::finished);
  EXPECT_TRUE(summary_of(run).contains("best_step"));
}

TEST_F(ResumeTest, RemovesWhatAKilledProcessLeft) {
  const fs::path whole = train("whole", tiny_recipe());
  const fs::path run = train_to(5, "run", tiny_recipe());
  const fs::path checkpoints = run / "checkpoints";
  write_file(run / ".recipe.toml.4711-0.tmp", "half");
  write_file(run / ".summary.json.4711-3.tmp", "half");
  write_file(checkpoints / ".best.4711-2.tmp", "half");
  fs::copy(checkpoints / "step-00000004", checkpoints / ".new-step-00000006");
  fs::copy(checkpoints / "step-00000004", checkpoints / ".old-step-00000002");
  fs::copy(checkpoints / "step-00000004", checkpoints / "step-00000007");
  fs::remove(checkpoints / "step-00000007" / "DONE");
  resume(run, tiny_recipe());
  EXPECT_EQ(files_and_folders(run), files_and_folders(whole));
}

TEST_F(ResumeTest, RefusesACheckpointOfAnotherRun) {
  const fs::path run = train_to(3, "run", tiny_recipe(1));
  const fs::path other = train_to(5, "other", tiny_recipe(2));
  fs::copy(other / "checkpoints/step-00000005", run / "checkpoints/step-00000005");
  const Error error = resume_error(run, tiny_recipe(1));
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("step-00000005 is a checkpoint of another run"));
  EXPECT_THAT(error.hint(), HasSubstr("Remove it"));
  fs::remove_all(run / "checkpoints/step-00000005");
  resume(run, tiny_recipe(1));
}

// Whole by its seals, but not what was evaluated here.
TEST_F(ResumeTest, ABestCheckpointOfAnotherRunIsALostOne) {
  const Recipe recipe = recipe_with_early_best(kMiddle);
  const fs::path run = train_to(kMiddle + 1, "run", recipe);
  Recipe foreign = recipe;
  foreign.seed += 100;
  const Step best = CheckpointStore(run).best().value();
  const fs::path other = train_to(best, "other", foreign);
  const fs::path place = CheckpointStore(run).directory(best);
  fs::remove_all(place);
  fs::copy(CheckpointStore(other).directory(best), place);
  EXPECT_THAT(resume(run, recipe), ElementsAre(HasSubstr("is a checkpoint of another run")));
  EXPECT_EQ(summary_of(run)["lost_best"]["step"], best);
}

TEST_F(ResumeTest, RefusesOtherDataUnlessTheyAreAccepted) {
  const fs::path run = train_to(3, "run", tiny_recipe());
  Recipe recipe = tiny_recipe();
  recipe.data.validation = 0.2;
  const Error error = resume_error(run, recipe);
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_THAT(error.what(), HasSubstr("the data of \"synthetic\" have changed"));
  EXPECT_THAT(error.hint(), HasSubstr("--accept-changes"));
  resume(run, recipe, DataChanges::accept);
}

TEST_F(ResumeTest, LargerBatchesThatEndTheRunBeforeItsStepAreTold) {
  Recipe recipe = tiny_recipe();
  ASSERT_GT(recipe.epochs, 0);
  const fs::path run = train_to(kMiddle, "run", recipe);
  recipe.data.batch_size *= 1000;
  const Error error = resume_error(run, recipe);
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_THAT(error.what(), HasSubstr("epochs of 1 steps)"));
  EXPECT_THAT(error.hint(), HasSubstr("larger batches make for fewer steps"));
}

TEST_F(ResumeTest, AnAcceptedChangeIsNoReasonToRefuseTheNextResume) {
  const fs::path run = train_to(3, "run", tiny_recipe());
  Recipe recipe = tiny_recipe();
  recipe.data.validation = 0.2;
  {
    Trainer trainer(recipe, run, calling({.step = [](const StepReport&) { std::raise(SIGTERM); }}));
    const StopSignal stop;
    ASSERT_TRUE(trainer.resume(DataChanges::accept));
    ASSERT_EQ(trainer.run(stop), TrainOutcome::stopped);
  }
  resume(run, recipe);
}

TEST_F(ResumeTest, RefusesAStateThatNoRunHas) {
  const fs::path run = train_to(3, "run", tiny_recipe());
  CheckpointStore store(run);
  CheckpointFiles files = store.load(3);
  json state = json::parse(text_of(files["state.json"]));
  state["step"] = -5;
  files["state.json"] = bytes_of(state.dump());
  store.save(3, files);
  const Error error = resume_error(run, tiny_recipe());
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("step-00000003/state.json"));
}

TEST_F(ResumeTest, ALogWithoutTheNameOfItsRunIsRefused) {
  const fs::path run = train_to(3, "run", tiny_recipe());
  write_file(run / "metrics.jsonl", std::string(5000, '\n'));
  const Error error = resume_error(run, tiny_recipe());
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl:1"));
}

}  // namespace
}  // namespace bitcycle
