#pragma once

// Small runs of pictures, trained, stopped and resumed in a directory of their own.

#include "bitcycle/io/file.h"
#include "bitcycle/train/trainer.h"

#include "train/callback_sink.h"

#include <csignal>
#include <filesystem>
#include <map>
#include <numeric>

#include <gtest/gtest.h>
#include <unistd.h>

namespace bitcycle {

namespace fs = std::filesystem;

// 8 steps an epoch, two epochs, a checkpoint and an evaluation every half epoch.
inline Recipe small_recipe() {
  return parse_recipe(R"(
    epochs = 2
    log_every = 3
    [model]
    name = "cifar_resnet8"
    [data]
    dataset = "synthetic"
    batch_size = 32
    limit = 256
    [optimizer]
    lr = 0.05
    [precision]
    backend = "simulate"
    forward = { schedule = "CR", min = 3, max = 8, cycles = 2 }
    backward = 8
    [evaluation]
    every_epochs = 0.5
    [checkpoint]
    every_epochs = 0.5
  )",
                      "small.toml");
}

inline Recipe short_recipe() {
  Recipe recipe = small_recipe();
  recipe.epochs = 0;
  recipe.steps = 4;
  return recipe;
}

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    // By process, too: tests of two checkouts may run at the same time.
    root_ = fs::temp_directory_path() /
            ("bitcycle-" + std::string(info->name()) + "-" + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path train(const std::string& name, const Recipe& recipe) {
    const fs::path run = root_ / name;
    fs::create_directories(run);
    Trainer(recipe, run).run(StopSignal());
    return run;
  }

  // Stops the run after `steps` steps, as Ctrl-C would; one that was stopped before goes on.
  fs::path train_and_stop(const std::string& name, const Recipe& recipe, Step steps) {
    const fs::path run = root_ / name;
    fs::create_directories(run);
    const StopSignal stop;
    Trainer trainer(recipe, run, calling({.step = [steps](const StepReport& report) {
                      if (report.step == steps) std::raise(SIGTERM);
                    }}));
    trainer.resume();
    EXPECT_EQ(trainer.run(stop), TrainOutcome::stopped);
    EXPECT_EQ(stop.received(), SIGTERM);
    EXPECT_EQ(trainer.step(), steps);
    return run;
  }

  void resume(const fs::path& run, const Recipe& recipe) {
    Trainer trainer(recipe, run);
    EXPECT_TRUE(trainer.resume());
    EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  }

  // One run that is stopped after each of these steps and goes on to its end.
  fs::path train_with_stops(const std::string& name, const Recipe& recipe,
                            const std::vector<Step>& stops) {
    for (const Step step : stops) train_and_stop(name, recipe, step);
    resume(root_ / name, recipe);
    return root_ / name;
  }

  fs::path root_;
};

// 1, 2, ..., last.
inline std::vector<Step> every_step_to(Step last) {
  std::vector<Step> steps(static_cast<std::size_t>(last));
  std::iota(steps.begin(), steps.end(), 1);
  return steps;
}

// Every file of a run but the measured times, by relative path.
inline std::map<std::string, std::vector<std::byte>> contents(const fs::path& run) {
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    if (entry.is_regular_file() && name != "timing.jsonl") files[name] = read_file(entry.path());
  }
  return files;
}

inline void expect_same_bytes(const fs::path& a, const fs::path& b) {
  const auto left = contents(a), right = contents(b);
  for (const auto& [name, bytes] : left) {
    ASSERT_EQ(right.count(name), 1U) << name << " is missing in " << b;
    EXPECT_TRUE(right.at(name) == bytes) << name << " differs";
  }
  EXPECT_EQ(left.size(), right.size());
}

inline std::string text(const fs::path& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace bitcycle
