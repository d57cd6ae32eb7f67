#include "train/run_files.h"

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/io/file.h"

#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

double saving_percent(const TrainState& state) {
  return 100.0 * (1.0 - state.bitops / state.bitops_static);
}

Json score_json(const Score& score) {
  return {{"accuracy", score.accuracy}, {"loss", score.loss}, {"samples", score.samples}};
}

}  // namespace

void RunFiles::open(const Recipe& recipe, Backend backend, const TrainState& state) {
  write_file(directory_ / "recipe.toml", to_toml(recipe));
  std::filesystem::remove(directory_ / "summary.json");  // of the run as it was before
  metrics_.emplace(directory_ / "metrics.jsonl", state.metrics_offset);
  if (state.metrics_offset == 0) {
    const Json line = {{"type", "run"},
                       {"step", 0},
                       {"backend", name(backend)},
                       {"counting", name(Counting::paper)}};
    metrics_->append(line.dump());
  }
  const auto timing = directory_ / "timing.jsonl";
  const bool goes_on = state.step > 0 && std::filesystem::exists(timing);
  timing_.emplace(timing, goes_on ? std::filesystem::file_size(timing) : 0);
}

void RunFiles::log_step(const StepReport& report, const TrainState& state, double seconds) {
  const Json line = {{"type", "step"},
                     {"step", report.step},
                     {"epoch", report.epoch},
                     {"loss", report.loss},
                     {"accuracy", report.accuracy},
                     {"lr", report.lr},
                     {"weight_bits", report.bits.weight},
                     {"activation_bits", report.bits.activation},
                     {"error_bits", report.bits.error},
                     {"gbitops", state.bitops / kGiga},
                     {"gbitops_static", state.bitops_static / kGiga}};
  metrics_->append(line.dump());
  log_time(report.step, seconds);
}

void RunFiles::log_time(Step step, double seconds) {
  timing_->append(Json{{"step", step}, {"seconds", seconds}}.dump());
}

void RunFiles::log_evaluation(const EvaluationReport& report) {
  Json line = {{"type", "evaluation"},
               {"step", report.step},
               {"split", report.split},
               {"bits", report.bits}};
  line.update(score_json(report.score));
  line["best"] = report.best;
  metrics_->append(line.dump());
}

std::uint64_t RunFiles::sync() {
  metrics_->sync();
  timing_->sync();
  return metrics_->offset();
}

void RunFiles::write_summary(const Recipe& recipe, Backend backend, const TrainState& state,
                             const TestScores& test) {
  sync();
  const Json summary = {{"model", recipe.model.name},
                        {"dataset", recipe.data.dataset},
                        {"seed", recipe.seed},
                        {"steps", state.step},
                        {"backend", name(backend)},
                        {"evaluation_bits", recipe.evaluation.bits},
                        {"best_step", state.best_step},
                        {"best_accuracy", state.best_accuracy},
                        {"test", score_json(test.last)},
                        {"test_of_best", score_json(test.best)},
                        {"counting", name(Counting::paper)},
                        {"gbitops", state.bitops / kGiga},
                        {"gbitops_static", state.bitops_static / kGiga},
                        {"saving_percent", saving_percent(state)}};
  write_file(directory_ / "summary.json", summary.dump(2) + "\n");
}

}  // namespace bitcycle
