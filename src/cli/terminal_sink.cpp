#include "cli/terminal_sink.h"

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

std::string step_text(const StepReport& report) {
  const double left = static_cast<double>(report.total - report.step) / report.steps_per_second;
  return fmt::format(
      "step {}/{}  epoch {:.2f}  {}  lr {:.4g}  bits {}  cost {:.1f} % of static  {:.2f} steps/s  "
      "{} left",
      report.step, report.total, report.epoch, metrics_text(report.metrics), report.lr,
      to_text(report.bits), 100 * report.bitops / report.bitops_static, report.steps_per_second,
      readable_duration(left));
}

}  // namespace

void TerminalSink::step(const StepReport& report) {
  if (narration_ == Narration::warnings) return;
  if (line_.live()) {
    line_.update(step_text(report));
  } else if (report.logged) {
    line_.print(step_text(report));
  }
}

void TerminalSink::evaluation(const EvaluationReport& report) {
  if (!report.score.finite()) {
    line_.print(fmt::format(
        "warning: the evaluation at step {} is not finite: the run has diverged, or is about to",
        report.step));
  }
  if (narration_ == Narration::warnings) return;
  line_.print(fmt::format("step {}  {} {}  at {} bits{}", report.step, report.split,
                          metrics_text(report.score.metrics), report.bits,
                          report.best ? "  (best)" : ""));
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
