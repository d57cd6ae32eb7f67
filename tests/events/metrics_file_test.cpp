#include "bitcycle/events/metrics_file.h"

#include "bitcycle/events/timing_file.h"
#include "bitcycle/io/file.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

const Metric kPerplexity{.name = "perplexity", .form = MetricForm::exponential};

StepReport step_report(Step step) {
  return {.step = step,
          .total = 9,
          .metrics = {{kPerplexity, 12.5}},
          .bits = {4, 4, 8},
          .bitops = 2e9,
          .bitops_static = 4e9,
          .seconds = 0.5,
          .logged = true};
}

EvaluationReport evaluation(Step step, double perplexity) {
  return {.step = step,
          .split = "validation",
          .bits = "max",
          .score = {{{kPerplexity, perplexity}}, 7, "tokens"}};
}

std::string text_in(const std::filesystem::path& path) {
  return text_of(read_file(path));
}

std::vector<Json> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<Json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(MetricsFileTest, HoldsALinePerEventWithTheTasksOwnMetrics) {
  const TemporaryDirectory run;
  MetricsFile file(run.path());
  file.begin({.run = "id1", .backend = "integer", .counting = "paper"}, 0);
  file.step(step_report(3));
  file.evaluation(evaluation(3, 20));
  file.sync();
  EXPECT_EQ(text_in(run / "metrics.jsonl"),
            R"({"type":"run","step":0,"backend":"integer","counting":"paper","id":"id1"})"
            "\n"
            R"({"type":"step","step":3,"epoch":0.0,"perplexity":12.5,"lr":0.0,"weight_bits":4,)"
            R"("activation_bits":4,"error_bits":8,"gbitops":2.0,"gbitops_static":4.0})"
            "\n"
            R"({"type":"evaluation","step":3,"split":"validation","bits":"max","perplexity":20.0,)"
            R"("tokens":7,"best":false})"
            "\n");
  EXPECT_EQ(logged_run(run.path()), "id1");
}

TEST(MetricsFileTest, ResumedAtAnOffsetForgetsWhatCameAfterIt) {
  const TemporaryDirectory run;
  MetricsFile file(run.path());
  file.begin({.run = "id1"}, 0);
  file.step(step_report(1));
  const std::uint64_t offset = file.sync();
  const std::string before = text_in(run / "metrics.jsonl");
  file.step(step_report(2));
  file.sync();
  MetricsFile resumed(run.path());
  resumed.begin({.run = "id1", .step = 1}, offset);
  EXPECT_EQ(text_in(run / "metrics.jsonl"), before);
}

TEST(MetricsFileTest, EvaluationsAreReadBackUnlessTheyAreNoNumbers) {
  const TemporaryDirectory run;
  MetricsFile file(run.path());
  file.begin({.run = "id1"}, 0);
  file.evaluation(evaluation(1, 20));
  file.evaluation(evaluation(2, std::numeric_limits<double>::infinity()));
  const std::uint64_t length = file.sync();
  file.evaluation(evaluation(3, 10));
  file.sync();
  const auto read = [&](const char* split, const char* metric) {
    return logged_evaluations(run.path(), split, metric, length);
  };
  ASSERT_EQ(read("validation", "perplexity").size(), 1U);
  EXPECT_EQ(read("validation", "perplexity")[0].step, 1);
  EXPECT_EQ(read("validation", "perplexity")[0].value, 20);
  EXPECT_TRUE(read("test", "perplexity").empty());
  EXPECT_TRUE(read("validation", "accuracy").empty());
}

TEST(MetricsFileTest, ChangesOfStageAreReadBack) {
  const TemporaryDirectory run;
  MetricsFile file(run.path());
  file.begin({.run = "id1"}, 0);
  file.stage({24, "3/6", "4/6", "the loss has settled", 0.04, 0.05});
  file.stage({30, "4/6", "8/8", "its deadline has come"});
  const std::uint64_t length = file.sync();
  file.stage({40, "8/8", "fp/fp", "later"});
  file.sync();
  EXPECT_THAT(
      text_in(run / "metrics.jsonl"),
      testing::HasSubstr(R"({"type":"stage","step":24,"from":"3/6","to":"4/6",)"
                         R"("reason":"the loss has settled","difference":0.04,"threshold":0.05})"
                         "\n"
                         R"({"type":"stage","step":30,"from":"4/6","to":"8/8",)"
                         R"("reason":"its deadline has come"})"
                         "\n"));
  const std::vector<StageChange> stages = logged_stages(run.path(), length);
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].step, 24);
  EXPECT_EQ(stages[0].to, "4/6");
  EXPECT_EQ(stages[0].difference, 0.04);
  EXPECT_EQ(stages[0].threshold, 0.05);
  EXPECT_EQ(stages[1].reason, "its deadline has come");
  EXPECT_EQ(stages[1].difference, std::nullopt);
}

TEST(MetricsFileTest, LoggedStepsAreReadBackWithTheirBitsAndCost) {
  const TemporaryDirectory run;
  MetricsFile file(run.path());
  file.begin({.run = "id1"}, 0);
  file.step(step_report(3));
  file.evaluation(evaluation(3, 20));
  file.step(step_report(6));
  file.sync();
  const std::vector<LoggedStep> steps = logged_steps(run.path());
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].step, 6);
  EXPECT_EQ(steps[1].bits, (LayerBits{4, 4, 8}));
  EXPECT_EQ(steps[1].gbitops, 2);
  EXPECT_EQ(steps[1].gbitops_static, 4);
}

// Two options, one to skip and one of 6 and 12 bits.
TEST(MetricsFileTest, WhatGatesChoseIsLoggedAsMeansThatAreNotRounded) {
  const TemporaryDirectory run;
  MetricsFile file(run.path(), [](const std::vector<std::vector<double>>& choices) {
    return MeanBits{4, 6 * choices[0][1], 12 * choices[0][1]};
  });
  file.begin({.run = "id1"}, 0);
  StepReport report = step_report(3);
  report.choices = {{0.75, 0.25}};
  file.step(report);
  file.sync();
  const Json line = lines_of(text_in(run / "metrics.jsonl")).back();
  EXPECT_EQ(line["activation_bits"], 1.5);
  EXPECT_EQ(line["error_bits"], 3);
  EXPECT_EQ(line["weight_bits"], 4);
  ASSERT_EQ(logged_steps(run.path()).size(), 1U);
  EXPECT_EQ(logged_steps(run.path()).front().choices, report.choices);
}

TEST(TimingFileTest, StepsWhoseBitsGatesChoseAreTimedTogether) {
  const TemporaryDirectory run;
  TimingFile file(run.path());
  file.begin({}, 0);
  StepReport report = step_report(1);
  report.choices = {{0.75, 0.25}};
  file.step(report);
  file.sync();
  const Json line = lines_of(text_in(run / "timing.jsonl")).back();
  EXPECT_EQ(line["by_bits"][0]["bits"], "as chosen");
}

TEST(TimingFileTest, GoesOnAfterTheLastWholeLine) {
  const TemporaryDirectory run;
  TimingFile file(run.path());
  file.begin({}, 0);
  file.step(step_report(1));
  file.sync();
  write_file(run / "timing.jsonl", text_in(run / "timing.jsonl") + "{\"step\":2,\"sec");
  TimingFile resumed(run.path());
  resumed.begin({.step = 1}, 0);
  resumed.stop(step_report(2));
  EXPECT_EQ(resumed.sync(), 0U);
  const std::vector<Json> lines = lines_of(text_in(run / "timing.jsonl"));
  ASSERT_EQ(lines.size(), 2U);
  for (const int step : {1, 2}) {
    const Json& line = lines[static_cast<std::size_t>(step - 1)];
    EXPECT_EQ(line["step"], step);
    EXPECT_EQ(line["seconds"], 0.5);
    EXPECT_GE(line["machine"]["threads"], 1) << "each process names its machine";
  }
}

TEST(TimingFileTest, TellsTheTimeOfStepsByTheirBits) {
  const TemporaryDirectory run;
  TimingFile file(run.path());
  file.begin({}, 0);
  // 3 steps of 1, 2 and 4 seconds, the middle one at other bits; then one of half a second.
  file.step({.step = 1, .bits = {3, 3, 8}, .seconds = 1});
  file.step({.step = 2, .bits = {8, 8, 8}, .seconds = 3});
  file.step({.step = 3, .bits = {3, 3, 8}, .seconds = 7, .logged = true});
  file.step({.step = 4, .bits = {8, 8, 8}, .seconds = 0.5, .logged = true});
  file.sync();
  const std::vector<Json> lines = lines_of(text_in(run / "timing.jsonl"));
  EXPECT_EQ(lines.at(0)["by_bits"], Json::parse(R"([{"bits": "3/8", "steps": 2, "seconds": 5},
                                                    {"bits": "8/8", "steps": 1, "seconds": 2}])"));
  EXPECT_EQ(lines.at(1)["by_bits"],
            Json::parse(R"([{"bits": "8/8", "steps": 1, "seconds": 0.5}])"));
  EXPECT_FALSE(lines.at(1).contains("machine"));
}

}  // namespace
}  // namespace bitcycle
