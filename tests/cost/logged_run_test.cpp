// `bitcycle cost RUN` of made-up runs whose batches are not all full. Its oracle is what `cost`
// says of a full step of the recipe at each of its bits, times the samples that the run's steps
// had.

#include "cli/run_program.h"
#include "io/temporary_directory.h"

#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::json;

Json asked(const std::string& arguments) {
  const Outcome outcome = run_program(arguments + " --json");
  EXPECT_EQ(outcome.status, 0) << arguments << outcome.text;
  return Json::parse(outcome.text);
}

struct Steps {
  std::string recipe;         // what it has besides
  int per_epoch;              // steps
  int full;                   // samples of a full step
  std::vector<int> samples;   // of each step
  std::vector<int> logged{};  // steps, besides the last
};

class LoggedRun {
 public:
  explicit LoggedRun(Steps steps) : steps_(std::move(steps)) {
    std::ofstream(directory_ / "recipe.toml")
        << "steps = " << steps_.samples.size() << "\nmodel.name = \"cifar_resnet8\"\n"
        << steps_.recipe;
    plan();
    steps_.logged.push_back(static_cast<int>(steps_.samples.size()));
    for (const int step : steps_.logged) log(step);
  }

  // By a rule, in the recipe's figures of a full step.
  double expected(const std::string& rule, const char* figure) const {
    const Json planned = asked("cost " + recipe() + rule);
    std::map<int, double> at;
    for (const Json& row : planned["rows"]) {
      at[std::stoi(row["bits"].get<std::string>())] = row[figure];
    }
    double sum = 0;
    for (std::size_t i = 0; i < steps_.samples.size(); ++i) {
      sum += steps_.samples[i] * at.at(weight_bits_[i]) / steps_.full;
    }
    return sum;
  }
  void expect(const std::string& rule, const char* figure, const char* figure_of_run) const {
    const double sum = expected(rule, figure);
    EXPECT_NEAR(asked("cost " + directory_.path().string() + rule)[figure_of_run].get<double>(),
                sum, 1e-9 * sum)
        << figure_of_run << rule;
  }

 private:
  std::string recipe() const { return (directory_ / "recipe.toml").string(); }
  void plan() {
    planned_ = asked("cost " + recipe());
    const Json bits =
        asked("schedule " + recipe() + " --steps-per-epoch " + std::to_string(steps_.per_epoch));
    for (const Json& row : bits["rows"]) weight_bits_.push_back(row["weight_bits"]);
  }
  void log(int step) {
    const int bits = weight_bits_[static_cast<std::size_t>(step - 1)];
    const auto done = std::accumulate(steps_.samples.begin(), steps_.samples.begin() + step, 0.0);
    const double all = static_cast<double>(steps_.samples.size()) * steps_.full;
    std::ofstream(directory_ / "metrics.jsonl", std::ios::app)
        << Json{{"type", "step"},
                {"step", step},
                {"epoch", static_cast<double>(step) / steps_.per_epoch},
                {"weight_bits", bits},
                {"activation_bits", bits},
                {"error_bits", 8},
                {"gbitops", 1},
                {"gbitops_static", planned_["gbitops_static"].get<double>() * done / all}}
        << "\n";
  }

  TemporaryDirectory directory_;
  Steps steps_;
  Json planned_;
  std::vector<int> weight_bits_;  // of each step
};

// The figures of a run that must be those of its steps.
void expect_steps_count(const Steps& steps) {
  const LoggedRun run(steps);
  run.expect(" --counting macs", "gbitops_per_step", "gbitops");
  run.expect(" --counting bitcycle", "gbitops_per_step", "gbitops");
  run.expect("", "normalised_macs_per_step", "normalised_macs");
  run.expect("", "modelled_joules_per_step", "modelled_joules");
}

const std::string kBits =
    "precision.forward = { schedule = \"CR\", min = 3, max = 8, cycles = 2 }\n"
    "precision.backward = 8\ndata.dataset = \"synthetic\"\ndata.batch_size = 7\n";

TEST(LoggedRunCostTest, TheLastBatchOfAnEpochCountsAtItsOwnBits) {
  expect_steps_count({kBits, 3, 7, {7, 7, 6, 7, 7, 6, 7}});
  expect_steps_count({kBits, 2, 7, {7, 1, 7, 1, 7, 1, 7}});
}

TEST(LoggedRunCostTest, AnEpochMayBeSmallerThanABatch) {
  expect_steps_count({kBits, 1, 7, {5, 5, 5, 5, 5, 5, 5}});
}

TEST(LoggedRunCostTest, BatchesThatGoIntoOneStepMayBeOfTwoEpochs) {
  expect_steps_count({kBits + "optimizer.accumulate = 2\n", 2, 14, {14, 13, 13, 14, 13}, {2}});
}

TEST(LoggedRunCostTest, SchedulesThatAdvanceOnceAnEpochKnowItsSteps) {
  expect_steps_count({kBits + "precision.per = \"epoch\"\n", 3, 7, {7, 7, 1, 7, 7, 1, 7}});
}

// Nothing tells more of these steps than that they shared the samples between two logged ones.
TEST(LoggedRunCostTest, ABatchSizeThatWasChangedUnderWayCountsByTheLog) {
  expect_steps_count({kBits, 3, 7, {7, 7, 7, 5, 5, 5, 5}, {3}});
}

}  // namespace
}  // namespace bitcycle
