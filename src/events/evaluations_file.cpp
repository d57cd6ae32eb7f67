#include "bitcycle/events/evaluations_file.h"

#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "events/evaluations_json.h"
#include "io/is_there.h"
#include "io/turn.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

bool is_evaluation(const Json& entry) {
  if (!entry.is_object()) return false;
  const auto is_text = [&](const char* name) { return entry.value(name, Json()).is_string(); };
  return is_text("checkpoint") && is_text("split") && is_text("bits") &&
         entry.value("step", Json()).is_number_integer() &&
         entry.value("metrics", Json()).is_object();
}

// Numbers that are not finite are null in JSON.
StoredEvaluation evaluation_of(const Json& entry) {
  StoredEvaluation evaluation{
      entry["checkpoint"], entry["step"], entry["split"], entry["bits"], {}};
  for (const auto& [name, value] : entry["metrics"].items()) {
    if (value.is_number()) evaluation.metrics.emplace_back(name, value.get<double>());
    if (value.is_null()) evaluation.metrics.emplace_back(name, NAN);
  }
  return evaluation;
}

Json json_of(const StoredEvaluation& evaluation) {
  Json metrics = Json::object();
  for (const auto& [name, value] : evaluation.metrics) metrics[name] = value;
  return {{"checkpoint", evaluation.checkpoint},
          {"step", evaluation.step},
          {"split", evaluation.split},
          {"bits", evaluation.bits},
          {"metrics", std::move(metrics)}};
}

bool same_subject(const StoredEvaluation& a, const StoredEvaluation& b) {
  return a.checkpoint == b.checkpoint && a.step == b.step && a.split == b.split && a.bits == b.bits;
}

Json parsed(const std::filesystem::path& path) {
  const auto bytes = read_regular_file(path);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Whether there was a damaged file, which is kept under another name.
DamagedEvaluations set_damaged_aside(const std::filesystem::path& file) {
  if (!is_there(file) || holds_evaluations(parsed(file))) return DamagedEvaluations::none;
  std::error_code error;
  std::filesystem::rename(file, file.string() + kDamagedEnding, error);
  return error ? DamagedEvaluations::lost : DamagedEvaluations::kept;
}

}  // namespace

bool holds_evaluations(const Json& json) {
  if (!json.is_object()) return false;
  const Json list = json.value("evaluations", Json());
  return list.is_array() && std::ranges::all_of(list, is_evaluation);
}

std::vector<StoredEvaluation> evaluations_in(const Json& json) {
  std::vector<StoredEvaluation> evaluations;
  if (!json.is_object()) return evaluations;
  for (const Json& entry : json.value("evaluations", Json::array())) {
    if (is_evaluation(entry)) evaluations.push_back(evaluation_of(entry));
  }
  return evaluations;
}

std::vector<StoredEvaluation> stored_evaluations(const std::filesystem::path& run_directory) {
  const std::filesystem::path path = run_directory / kEvaluationsFile;
  return is_there(path) ? evaluations_in(parsed(path)) : std::vector<StoredEvaluation>();
}

DamagedEvaluations store_evaluations(const std::filesystem::path& run_directory,
                                     const std::vector<StoredEvaluation>& evaluations) {
  const Turn turn(run_directory);  // evaluations may end at the same time
  std::vector<StoredEvaluation> all = stored_evaluations(run_directory);
  for (const StoredEvaluation& evaluation : evaluations) {
    const auto old = std::ranges::find_if(
        all, [&](const StoredEvaluation& other) { return same_subject(other, evaluation); });
    old == all.end() ? all.push_back(evaluation) : void(*old = evaluation);
  }
  Json list = Json::array();
  for (const StoredEvaluation& evaluation : all) list.push_back(json_of(evaluation));
  const std::filesystem::path file = run_directory / kEvaluationsFile;
  const DamagedEvaluations damaged = set_damaged_aside(file);
  write_file(file, json_text({{"evaluations", list}}, 2) + "\n");
  return damaged;
}

}  // namespace bitcycle
