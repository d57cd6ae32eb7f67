#include "train/run_files.h"

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"

#include <algorithm>

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

// Where the last whole line of a file ends: a machine that lost its power may leave half of one.
std::uint64_t end_of_lines(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  const auto newline = std::find(bytes.rbegin(), bytes.rend(), std::byte{'\n'});
  return static_cast<std::uint64_t>(bytes.rend() - newline);
}

}  // namespace

void RunFiles::open(const Recipe& recipe, Backend backend, const TrainState& state) {
  remove_temporaries(directory_);
  // The summary is of the recipe as it was before: it goes first, lest a kill leave it beside a
  // recipe that it does not belong to.
  std::filesystem::remove(directory_ / "summary.json");
  write_file(directory_ / "recipe.toml", to_toml(recipe));
  metrics_.emplace(directory_ / "metrics.jsonl", state.metrics_offset);
  if (state.metrics_offset == 0) {
    metrics_->append(json_text({{"type", "run"},
                                {"step", 0},
                                {"backend", name(backend)},
                                {"counting", name(Counting::paper)},
                                {"id", state.run}}));
  }
  const auto timing = directory_ / "timing.jsonl";
  const bool goes_on = state.step > 0 && std::filesystem::exists(timing);
  timing_.emplace(timing, goes_on ? end_of_lines(timing) : 0);
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
  metrics_->append(json_text(line));
  log_time(report.step, seconds);
}

void RunFiles::log_time(Step step, double seconds) {
  timing_->append(json_text({{"step", step}, {"seconds", seconds}}));
}

void RunFiles::log_evaluation(const EvaluationReport& report) {
  Json line = {{"type", "evaluation"},
               {"step", report.step},
               {"split", report.split},
               {"bits", report.bits}};
  line.update(score_json(report.score));
  line["best"] = report.best;
  metrics_->append(json_text(line));
}

void RunFiles::log_lost_best(const TrainState& state) {
  metrics_->append(json_text({{"type", "lost_best"},
                              {"step", state.step},
                              {"lost_step", state.lost_best_step},
                              {"lost_accuracy", state.lost_best_accuracy},
                              {"best_step", state.best_step},
                              {"best_accuracy", state.best_accuracy}}));
}

std::vector<LoggedEvaluation> RunFiles::evaluations(const std::string& split) const {
  return logged_evaluations(directory_ / "metrics.jsonl", split, metrics_->offset());
}

std::uint64_t RunFiles::sync() {
  metrics_->sync();
  timing_->sync();
  return metrics_->offset();
}

void RunFiles::write_summary(const Recipe& recipe, Backend backend, const TrainState& state,
                             const TestScores& test) {
  sync();
  Json summary = {{"model", recipe.model.name},
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
  if (state.lost_best_step != 0) {
    summary["lost_best"] = {{"step", state.lost_best_step}, {"accuracy", state.lost_best_accuracy}};
  }
  write_file(directory_ / "summary.json", json_text(summary, 2) + "\n");
}

}  // namespace bitcycle
