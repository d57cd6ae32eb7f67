#include "cli/runs/terminal_sink.h"

#include "bitcycle/report/precision_text.h"

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

// "accuracy 67.19 %  loss 0.9423"
std::string metrics_text(const std::vector<Measured>& metrics) {
  std::string text;
  for (const auto& [metric, value] : metrics) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "  ", metric.name, metric.text(value));
  }
  return text;
}

// Where gates choose, cp among the metrics says what they chose.
std::string bits_text(const StepReport& report) {
  return report.choices.empty() ? "bits " + to_text(report.bits) : "bits as chosen";
}

// "a  b  c", as many of the parts as fit into `width` columns, and the first in any case.
std::string joined_within(const std::vector<std::string>& parts, std::size_t width) {
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (text.size() + 2 + parts[i].size() > width) break;
    text += "  " + parts[i];
  }
  return text;
}

std::string step_text(const StepReport& report, const std::string& left) {
  return fmt::format(
      "step {}/{}  epoch {:.2f}  {}  lr {:.4g}  {}  cost {:.1f} % of static  {:.2f} steps/s  {}",
      report.step, report.total, report.epoch, metrics_text(report.metrics), report.lr,
      bits_text(report), 100 * report.bitops / report.bitops_static, report.steps_per_second, left);
}

// What matters most comes first, because a narrow terminal has no room for the rest.
std::string live_text(const StepReport& report, const std::string& left, std::size_t width) {
  std::vector<std::string> parts = {fmt::format("{:.3g} steps/s", report.steps_per_second), left,
                                    fmt::format("step {}/{}", report.step, report.total)};
  for (const auto& [metric, value] : report.metrics) {
    parts.push_back(metric.name + " " + metric.text(value));
    if (parts.size() == 4) parts.push_back(bits_text(report));
  }
  parts.push_back(fmt::format("cost {:.1f} %", 100 * report.bitops / report.bitops_static));
  parts.push_back(fmt::format("lr {:.4g}", report.lr));
  return joined_within(parts, width);
}

}  // namespace

// The first steps of a process are slow, and say little of those to come.
std::string TerminalSink::time_left(const StepReport& report) const {
  constexpr int kColdSteps = 4;
  const Step steps = report.total - report.step;
  if (told_ <= kColdSteps && steps > kColdSteps) return "time left: not yet known";
  return readable_duration(static_cast<double>(steps) / report.steps_per_second) + " left";
}

void TerminalSink::step(const StepReport& report) {
  ++told_;
  if (narration_ == Narration::warnings) return;
  if (line_.live()) {
    line_.update(live_text(report, time_left(report), line_.width()));
  } else if (report.logged) {
    line_.print(step_text(report, time_left(report)));
  }
}

void TerminalSink::evaluating(const EvaluationStart& start) {
  if (narration_ == Narration::warnings) return;
  const std::string text = fmt::format("step {}  evaluating on {} at {} bits", start.step,
                                       start.split, evaluation_text(start.bits, start.widths));
  line_.live() ? line_.update(text) : line_.print(text);
}

void TerminalSink::evaluation(const EvaluationReport& report) {
  if (!report.score.finite()) {
    line_.print(fmt::format(
        "warning: the evaluation at step {} is not finite: the run has diverged, or is about to",
        report.step));
  }
  if (narration_ == Narration::warnings) return;
  line_.print(fmt::format(
      "step {}  {} {}  at {} bits{}", report.step, report.split, metrics_text(report.score.metrics),
      evaluation_text(report.bits, report.widths), report.best ? "  (best)" : ""));
}

void TerminalSink::stage(const StageChange& change) {
  if (narration_ == Narration::warnings) return;
  line_.print(fmt::format("step {}  precision {} -> {}: {}", change.step, change.from, change.to,
                          change.reason));
}

void TerminalSink::lost_best(const LostBestReport& report) {
  const std::string now = report.best_step == 0
                              ? "the next evaluation is the best again"
                              : fmt::format("step {} is the best now", report.best_step);
  line_.print(fmt::format("warning: the best checkpoint is lost: {}; {}", report.damage, now));
}

void TerminalSink::lost_sink(const LostSinkReport& report) {
  line_.print(fmt::format("warning: {}; the run goes on without {}{}{}", report.reason, report.sink,
                          report.hint.empty() ? "" : ". ", report.hint));
}

}  // namespace bitcycle::cli
