#include "train/run_files.h"

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "events/stage_json.h"

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

Json score_json(const Score& score) {
  Json json;
  for (const Measured& measured : score.metrics) json[measured.metric.name] = measured.value;
  json[score.unit] = score.count;
  return json;
}

}  // namespace

void begin_run_files(const std::filesystem::path& run_directory, const Recipe& recipe,
                     const RunTexts& texts) {
  remove_temporaries(run_directory);
  // The summary is of the recipe as it was before: it goes first, lest a kill leave it beside a
  // recipe that it does not belong to.
  std::filesystem::remove(run_directory / "summary.json");
  std::filesystem::remove_all(run_directory / kAveragedFolder);
  for (const auto& [file, text] : texts) write_file(run_directory / file, text);
  write_file(run_directory / "recipe.toml", to_toml(recipe));
}

// They count with the first checkpoint; before it a run may start again, with other data.
RunTexts stored_texts(const std::filesystem::path& run_directory) {
  RunTexts texts;
  if (run_directory.empty() || !CheckpointStore(run_directory).latest()) return texts;
  for (const auto& entry : std::filesystem::directory_iterator(run_directory)) {
    if (entry.path().extension() != ".txt" || !entry.is_regular_file()) continue;
    const auto bytes = read_file(entry.path());
    texts[entry.path().filename().string()] =
        std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

namespace {

Json averaged_json(const AveragedResult& averaged) {
  Json json = {{"points", averaged.points}};
  if (averaged.validation) json["validation"] = score_json(*averaged.validation);
  json["test"] = score_json(averaged.test);
  return json;
}

// No evaluation may have been finite.
Json best_value(const TrainState& state) {
  return state.best_step == 0 ? Json() : Json(state.best_value);
}

}  // namespace

void write_summary(const std::filesystem::path& run_directory, const Recipe& recipe,
                   const TrainState& state, const RunResult& result) {
  Json summary = {{"model", recipe.model.name},
                  {"dataset", recipe.data.dataset},
                  {"seed", recipe.seed},
                  {"steps", state.step},
                  {"backend", name(result.backend)},
                  {"evaluation_bits", recipe.evaluation.bits},
                  {"best_step", state.best_step},
                  {"best_" + result.primary, best_value(state)},
                  {"test", score_json(result.test.last)},
                  {"test_of_best", score_json(result.test.best)},
                  {"counting", name(Counting::paper)},
                  {"gbitops", state.bitops / kGiga},
                  {"gbitops_static", state.bitops_static / kGiga},
                  {"saving_percent", saving_percent(state.bitops, state.bitops_static)}};
  const auto& gates = recipe.precision.dynamic;
  if (recipe.precision.progressive || (gates && gates->target.size() > 1) ||
      !result.stages.empty()) {
    summary["stages"] = Json::array();
    for (const StageChange& change : result.stages) summary["stages"].push_back(to_json(change));
  }
  if (result.averaged) summary["averaged"] = averaged_json(*result.averaged);
  if (state.lost_best_step != 0) {
    summary["lost_best"] = {{"step", state.lost_best_step},
                            {result.primary, state.lost_best_value}};
  }
  write_file(run_directory / "summary.json", json_text(summary, 2) + "\n");
}

}  // namespace bitcycle
