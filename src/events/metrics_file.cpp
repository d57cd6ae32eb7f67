#include "bitcycle/events/metrics_file.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "events/stage_json.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "metrics.jsonl";
constexpr double kGiga = 1e9;

void add(Json& line, const std::vector<Measured>& metrics) {
  for (const Measured& measured : metrics) line[measured.metric.name] = measured.value;
}

Json parse(const std::string& line) {
  return Json::parse(line, nullptr, /*allow_exceptions=*/false);
}

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_regular_file(path, ErrorCode::checkpoint);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Numbers that are not finite are null in JSON: an evaluation with one of them is none.
bool is_evaluation(const Json& line, const std::string& split, const std::string& metric) {
  return line.is_object() && line.value("type", Json()) == "evaluation" &&
         line.value("split", Json()) == split && line.value("step", Json()).is_number_integer() &&
         line.value(metric, Json()).is_number() &&
         std::ranges::none_of(line, [](const Json& value) { return value.is_null(); });
}

bool is_step(const Json& line) {
  if (!line.is_object() || line.value("type", Json()) != "step") return false;
  const auto is_number = [&](const char* name) { return line.value(name, Json()).is_number(); };
  const auto is_count = [&](const char* name) {
    return line.value(name, Json()).is_number_unsigned();
  };
  const auto is_width = [&](const char* name) {
    return is_count(name) || (line.contains("choices") && is_number(name));
  };
  return is_count("step") && is_count("weight_bits") && is_width("activation_bits") &&
         is_width("error_bits") && is_number("epoch") && is_number("gbitops") &&
         is_number("gbitops_static");
}

// Nothing, where these are no lists of numbers.
std::vector<std::vector<double>> choices_of(const Json& line) {
  const Json blocks = line.value("choices", Json::array());
  const auto is_share = [](const Json& share) { return share.is_number(); };
  const auto is_block = [&](const Json& block) {
    return block.is_array() && std::ranges::all_of(block, is_share);
  };
  if (!blocks.is_array() || !std::ranges::all_of(blocks, is_block)) return {};
  return blocks;
}

LoggedStep step_of(const Json& line) {
  const auto width = [&](const char* name) {
    return static_cast<int>(std::lround(line[name].get<double>()));
  };
  return {.step = line["step"],
          .epoch = line["epoch"],
          .bits = {width("weight_bits"), width("activation_bits"), width("error_bits")},
          .gbitops = line["gbitops"],
          .gbitops_static = line["gbitops_static"],
          .choices = choices_of(line)};
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& run_directory, MeanOfChoices mean)
    : path_(run_directory / kName), mean_(std::move(mean)) {}

std::string MetricsFile::name() const {
  return kName;
}

void MetricsFile::begin(const RunStart& start, std::uint64_t offset) {
  log_.emplace(path_, offset);
  if (offset != 0) return;
  log_->append(json_text({{"type", "run"},
                          {"step", 0},
                          {"backend", start.backend},
                          {"counting", start.counting},
                          {"id", start.run}}));
}

void MetricsFile::step(const StepReport& report) {
  if (!report.logged) return;
  Json line = {{"type", "step"}, {"step", report.step}, {"epoch", report.epoch}};
  add(line, report.metrics);
  line.update({{"lr", report.lr},
               {"weight_bits", report.bits.weight},
               {"activation_bits", report.bits.activation},
               {"error_bits", report.bits.error},
               {"gbitops", report.bitops / kGiga},
               {"gbitops_static", report.bitops_static / kGiga}});
  if (mean_ && !report.choices.empty()) {
    const MeanBits mean = mean_(report.choices);
    line["activation_bits"] = mean.activation;
    line["error_bits"] = mean.error;
  }
  if (!report.choices.empty()) line["choices"] = report.choices;
  log_->append(json_text(line));
}

void MetricsFile::evaluation(const EvaluationReport& report) {
  Json line = {{"type", "evaluation"},
               {"step", report.step},
               {"split", report.split},
               {"bits", report.bits}};
  add(line, report.score.metrics);
  line[report.score.unit] = report.score.count;
  line["best"] = report.best;
  log_->append(json_text(line));
}

void MetricsFile::stage(const StageChange& change) {
  Json line = {{"type", "stage"}};
  line.update(to_json(change));
  log_->append(json_text(line));
}

void MetricsFile::lost_best(const LostBestReport& report) {
  log_->append(json_text({{"type", "lost_best"},
                          {"step", report.step},
                          {"lost_step", report.lost_step},
                          {"lost_" + report.metric, report.lost_value},
                          {"best_step", report.best_step},
                          {"best_" + report.metric, report.best_value}}));
}

std::uint64_t MetricsFile::sync() {
  log_->sync();
  return log_->offset();
}

std::string logged_run(const std::filesystem::path& run_directory) {
  const std::filesystem::path path = run_directory / kName;
  const std::string text = text_of(path);
  const Json first = parse(text.substr(0, text.find('\n')));
  if (first.is_object() && first.value("id", Json()).is_string()) return first["id"];
  throw Error(ErrorCode::checkpoint,
              path.string() + ":1: expected a line that says which run this is, with \"id\"",
              "The file was changed after the run stopped: restore it, or start a new run.");
}

std::vector<LoggedEvaluation> logged_evaluations(const std::filesystem::path& run_directory,
                                                 const std::string& split,
                                                 const std::string& metric, std::uint64_t length) {
  std::istringstream lines(text_of(run_directory / kName).substr(0, length));
  std::vector<LoggedEvaluation> found;
  for (std::string text; std::getline(lines, text);) {
    const Json line = parse(text);
    if (is_evaluation(line, split, metric)) found.push_back({line["step"], line[metric]});
  }
  return found;
}

std::vector<StageChange> logged_stages(const std::filesystem::path& run_directory,
                                       std::uint64_t length) {
  if (!std::filesystem::exists(run_directory / kName)) return {};  // a lost log stops no run
  std::istringstream lines(text_of(run_directory / kName).substr(0, length));
  std::vector<StageChange> found;
  for (std::string text; std::getline(lines, text);) {
    const Json line = parse(text);
    if (!line.is_object() || line.value("type", Json()) != "stage") continue;
    if (const auto change = stage_from_json(line)) found.push_back(*change);
  }
  return found;
}

std::vector<LoggedStep> logged_steps(const std::filesystem::path& run_directory) {
  std::istringstream lines(text_of(run_directory / kName));
  std::vector<LoggedStep> found;
  for (std::string text; std::getline(lines, text);) {
    const Json line = parse(text);
    if (is_step(line)) found.push_back(step_of(line));
  }
  return found;
}

}  // namespace bitcycle
