#include "bitcycle/events/tensorboard_file.h"

#include "bitcycle/cost/run_cost.h"
#include "bitcycle/io/tf_record.h"

#include "events/summary_message.h"

#include <cmath>
#include <map>
#include <sstream>

namespace bitcycle {
namespace {

constexpr double kGiga = 1e9;
// Histograms are large: one at every fifth look is as much as TensorBoard shows of them.
constexpr std::int64_t kLooksPerHistogram = 5;

void append_record(AppendFile& file, const ProtobufMessage& event) {
  const std::string record = tf_record(event.bytes());
  file.append(std::as_bytes(std::span(record)));
}

// Markdown's form of a text that is shown as it is.
std::string as_code(const std::string& text) {
  std::istringstream lines(text);
  std::string code;
  for (std::string line; std::getline(lines, line);) code += "    " + line + "\n";
  return code;
}

void add_metrics(SummaryMessage& summary, const std::string& group,
                 const std::vector<Measured>& metrics) {
  for (const auto& [metric, value] : metrics) summary.add_scalar(group + "/" + metric.name, value);
}

// Float stays 0.
MeanBits as_mean(const LayerBits& bits) {
  return {static_cast<double>(bits.weight), static_cast<double>(bits.activation),
          static_cast<double>(bits.error)};
}

// The share of each option over all blocks.
void add_choices(SummaryMessage& summary, const std::vector<std::vector<double>>& blocks) {
  for (std::size_t option = 0; !blocks.empty() && option < blocks.front().size(); ++option) {
    double sum = 0;
    for (const std::vector<double>& block : blocks) sum += block[option];
    summary.add_scalar("choices/option_" + std::to_string(option + 1),
                       sum / static_cast<double>(blocks.size()));
  }
}

void add_layer(SummaryMessage& summary, const LayerStatistics& layer) {
  each_role(layer, [&](const std::string& role, const TensorStatistics& tensor) {
    const std::string end = "/" + layer.name + "/" + role;
    summary.add_scalar("layer_bits" + end, tensor.bits());
    summary.add_scalar("layer_low" + end, tensor.range.low);
    summary.add_scalar("layer_high" + end, tensor.range.high);
    if (std::isfinite(tensor.sqnr_db()))
      summary.add_scalar("layer_sqnr_db" + end, tensor.sqnr_db());
  });
}

void add_layer_codes(SummaryMessage& summary, const LayerStatistics& layer) {
  each_role(layer, [&](const std::string& role, const TensorStatistics& tensor) {
    summary.add_codes("codes/" + layer.name + "/" + role, tensor);
  });
}

// How wide the ranges of the layers are, by role.
void add_ranges(SummaryMessage& summary, const std::vector<LayerStatistics>& layers) {
  std::map<std::string, std::vector<double>> widths;
  for (const LayerStatistics& layer : layers) {
    each_role(layer, [&](const std::string& role, const TensorStatistics& tensor) {
      const double width = tensor.range.high - tensor.range.low;
      if (std::isfinite(width)) widths[role].push_back(width);
    });
  }
  for (const auto& [role, values] : widths) summary.add_values("ranges/" + role, values);
}

}  // namespace

TensorBoardFile::TensorBoardFile(const std::filesystem::path& run_directory, MeanOfChoices mean)
    : path_(run_directory / kName), mean_(std::move(mean)) {}

void TensorBoardFile::begin(const RunStart& start, std::uint64_t offset) {
  file_.emplace(path_, offset);
  if (offset != 0) return;
  append_record(*file_, version_event());
  SummaryMessage summary;
  summary.add_text("recipe", as_code(start.recipe));
  append(start.step, summary);
}

void TensorBoardFile::step(const StepReport& report) {
  if (!report.logged) return;
  SummaryMessage summary;
  add_metrics(summary, "train", report.metrics);
  summary.add_scalar("train/lr", report.lr);
  summary.add_scalar("train/epoch", report.epoch);
  const MeanBits bits =
      mean_ && !report.choices.empty() ? mean_(report.choices) : as_mean(report.bits);
  summary.add_scalar("bits/weight", bits.weight);
  summary.add_scalar("bits/activation", bits.activation);
  summary.add_scalar("bits/error", bits.error);
  summary.add_scalar("cost/gbitops", report.bitops / kGiga);
  summary.add_scalar("cost/gbitops_static", report.bitops_static / kGiga);
  summary.add_scalar("cost/saving_percent", saving_percent(report.bitops, report.bitops_static));
  add_choices(summary, report.choices);
  append(report.step, summary);
}

void TensorBoardFile::layers(const LayerReport& report) {
  SummaryMessage summary;
  for (const LayerStatistics& layer : report.layers) add_layer(summary, layer);
  if (report.number % kLooksPerHistogram == 0) {
    for (const LayerStatistics& layer : report.layers) add_layer_codes(summary, layer);
    add_ranges(summary, report.layers);
  }
  append(report.step, summary);
}

void TensorBoardFile::evaluation(const EvaluationReport& report) {
  SummaryMessage summary;
  add_metrics(summary, report.split, report.score.metrics);
  append(report.step, summary);
}

void TensorBoardFile::stage(const StageChange& change) {
  SummaryMessage summary;
  summary.add_text("stage", change.from + " -> " + change.to + ": " + change.reason);
  append(change.step, summary);
}

std::uint64_t TensorBoardFile::sync() {
  file_->sync();
  return file_->offset();
}

void TensorBoardFile::append(Step step, const SummaryMessage& summary) {
  if (!summary.empty()) append_record(*file_, summary_event(step, summary));
}

}  // namespace bitcycle
