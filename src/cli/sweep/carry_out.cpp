#include "cli/sweep/carry_out.h"

#include "bitcycle/base/processors.h"
#include "bitcycle/base/thread_places.h"
#include "bitcycle/io/run_lock.h"

#include "base/json_text.h"
#include "cli/sweep/departures.h"
#include "cli/sweep/missing_data.h"
#include "cli/sweep/sweep_runner.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

constexpr int kIncomplete = 9;  // docs/errors.md

// Of all jobs together: what the user has asked for, else one for each core.
int threads_to_share() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int number = wanted == nullptr ? 0 : std::atoi(wanted);
  if (number > 0) return number;
  leave_places();
  return default_threads(physical_cores(allowed_cpus()).size(), cpu_quota());
}

void tell_vanished(const SweepPlan& plan, LiveLine& line) {
  if (plan.vanished.empty()) return;
  line.print(fmt::format("note: no longer in the sweep, left as they are: {}",
                         fmt::join(plan.vanished, ", ")));
}

void tell_missing(const SweepPlan& plan, LiveLine& line) {
  for (const std::string& sentence : missing_data(plan)) line.print("warning: " + sentence);
}

int show_plan(const SweepPlan& plan, bool json) {
  if (json) {
    fmt::print("{}\n", json_text(plan_json(plan), 2));
    return 0;
  }
  const std::string changed = departures_text(departures(plan), plan.cells.size());
  fmt::print("{}{}{}", plan_text(plan), changed.empty() ? "" : "\n", changed);
  return 0;
}

}  // namespace

void add_conduct(CLI::App& command, SweepConduct& conduct) {
  command.add_option("-j,--jobs", conduct.jobs, "Cells to train at a time; they share the threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_flag("--dry-run", conduct.dry_run, "List the cells, their cost and what is done");
  command.add_flag("--redo-changed", conduct.redo_changed,
                   "Remove the runs of cells whose recipe has changed, and train them anew");
  command.add_flag("-q,--quiet", conduct.quiet, "Print warnings, failures and the result only");
  command.add_flag("--json", conduct.json, "Print the result as JSON");
}

void add_selection(CLI::App& command, SweepOptions& what) {
  command.add_option("--only", what.only, "Only cells with this in their names");
  command.add_option("--set", what.settings, "KEY=VALUE of every cell's recipe")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->take_all();
}

int carry_out(const SweepWork& work, const SweepResultPrinter& print_result) {
  LiveLine line(stderr);
  const auto look = [&] { return plan_sweep(work.file, work.directory, work.what); };
  const SweepConduct& options = work.conduct;
  SweepPlan plan = look();
  tell_vanished(plan, line);
  tell_missing(plan, line);
  if (options.dry_run) return show_plan(plan, options.json);
  if (!options.redo_changed) refuse_changes(plan);
  const RunLock lock(work.directory);
  // This is the look that counts: another sweep may have ended here meanwhile.
  plan = look();
  options.redo_changed ? forget_changed(plan) : refuse_changes(plan);
  const StopSignal stop;
  const int jobs = std::min(options.jobs, static_cast<int>(plan.cells.size()));
  const SweepOutcome outcome = run_sweep_cells(
      plan, {.jobs = jobs, .threads = threads_to_share(), .quiet = options.quiet}, stop, line);
  const std::size_t cells = plan.cells.size();
  if (stop.received() != 0 && outcome.finished + outcome.failed < cells) {
    line.print(fmt::format("stopped: {} of {} cells have finished; the same command goes on",
                           outcome.finished, cells));
    return 128 + stop.received();
  }
  print_result(plan, outcome.record);
  return outcome.finished == cells ? 0 : kIncomplete;
}

}  // namespace bitcycle::cli
