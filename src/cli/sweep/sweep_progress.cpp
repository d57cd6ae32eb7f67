#include "cli/sweep/sweep_progress.h"

#include "bitcycle/base/statistics.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/live_line.h"

#include <algorithm>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

constexpr double kLeastDone = 0.02;  // of a cell, before its pace says anything

}  // namespace

double SweepProgress::Cell::done() const {
  if (phase == Phase::finished || phase == Phase::failed) return 1;
  return total > 0 ? static_cast<double>(step) / static_cast<double>(total) : 0;
}

SweepProgress::SweepProgress(const SweepPlan& plan, int jobs) : jobs_(jobs) {
  for (const PlannedCell& planned : plan.cells) {
    const RunSummary& run = planned.run;
    const bool finished = run.state == SummaryState::finished;
    cells_.push_back({.name = planned.cell.name,
                      .group = planned.cell.group,
                      .phase = finished ? Phase::finished : Phase::waiting,
                      .step = run.step,
                      .total = run.total,
                      .duration = finished ? run.training_seconds : std::nullopt});
  }
}

void SweepProgress::begin(std::size_t cell, double now) {
  Cell& entry = cells_[cell];
  entry.phase = Phase::running;
  entry.begun = now;
  entry.done_before = entry.done();
}

void SweepProgress::advance(std::size_t cell, double now, const RunSummary& run) {
  Cell& entry = cells_[cell];
  entry.step = run.step;
  entry.total = run.total;
  const double progress = entry.done() - entry.done_before;
  if (progress >= kLeastDone) entry.duration = (now - entry.begun) / progress;
}

void SweepProgress::end(std::size_t cell, double now, bool finished) {
  Cell& entry = cells_[cell];
  entry.phase = finished ? Phase::finished : Phase::failed;
  const double progress = 1 - entry.done_before;
  if (finished && progress >= kLeastDone) entry.duration = (now - entry.begun) / progress;
}

std::size_t SweepProgress::count(Phase phase) const {
  return static_cast<std::size_t>(std::ranges::count(cells_, phase, &Cell::phase));
}

std::optional<double> SweepProgress::duration_of(const Cell& cell) const {
  if (cell.duration) return cell.duration;
  std::vector<double> group, all;
  for (const Cell& other : cells_) {
    if (!other.duration) continue;
    all.push_back(*other.duration);
    if (other.group == cell.group) group.push_back(*other.duration);
  }
  if (all.empty()) return std::nullopt;
  return mean(group.empty() ? all : group);
}

std::optional<double> SweepProgress::seconds_left() const {
  double sum = 0, longest = 0;
  for (const Cell& cell : cells_) {
    const std::optional<double> duration = duration_of(cell);
    if (!duration) return std::nullopt;
    const double left = (1 - cell.done()) * *duration;
    sum += left;
    longest = std::max(longest, left);
  }
  return std::max(longest, sum / jobs_);
}

std::string SweepProgress::line() const {
  std::string text = fmt::format("{}/{} done", finished(), size());
  if (failed() > 0) text += fmt::format(", {} failed", failed());
  if (const auto left = seconds_left()) text += fmt::format(", {} left", readable_duration(*left));
  for (const Cell& cell : cells_) {
    if (cell.phase != Phase::running) continue;
    text += fmt::format("; {} {}", cell.name, steps_text(cell.step, cell.total));
  }
  return text;
}

std::string SweepProgress::counts() const {
  std::string text = fmt::format("{} of {} finished", finished(), size());
  if (failed() > 0) text += fmt::format(", {} failed", failed());
  const std::optional<double> left = seconds_left();
  if (left && *left > 0) text += fmt::format(", {} left", readable_duration(*left));
  return text;
}

}  // namespace bitcycle::cli
