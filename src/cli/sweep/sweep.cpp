// `bitcycle sweep`: trains a grid of recipes and prints what they came to.

#include "bitcycle/base/processors.h"
#include "bitcycle/base/thread_places.h"
#include "bitcycle/io/run_lock.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/compare/comparison_text.h"
#include "cli/sweep/sweep_runner.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kIncomplete = 9;  // docs/errors.md

constexpr const char* kFooter =
    "A sweep is a TOML file: a recipe, seeds, variants by name and axes that multiply;\n"
    "docs/sweeps.md has its keys. Every cell is an ordinary run below the sweep's directory.\n"
    "The same command goes on where a sweep was stopped or killed: what is finished stays, what "
    "is\n"
    "not resumes, what failed is tried again.\n"
    "\n"
    "Examples:\n"
    "  bitcycle sweep recipes/sweeps/cpt-or-static.toml --dry-run   what it would train, and cost\n"
    "  bitcycle sweep recipes/sweeps/cpt-or-static.toml --jobs 2\n"
    "  bitcycle compare runs/cpt-or-static                          its table again\n"
    "\n"
    "Ctrl-C stops all cells with a checkpoint and exits with 130; a second one exits at once. The\n"
    "status is 0 when all cells have finished, 9 when some have failed.";

struct Options {
  std::string file;
  std::string run_dir;
  int jobs = 1;
  bool dry_run = false, redo_changed = false, quiet = false, json = false;
};

fs::path directory_of(const Options& options) {
  if (!options.run_dir.empty()) return options.run_dir;
  return fs::path("runs") / fs::path(options.file).stem();
}

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

void print_result(const SweepPlan& plan, const SweepRecord& record, bool json) {
  const Comparison comparison = compare_sweep(plan.directory, record);
  fmt::print("{}",
             json ? json_text(comparison_json(comparison), 2) + "\n" : comparison_text(comparison));
}

int show_plan(const SweepPlan& plan, bool json) {
  fmt::print("{}", json ? json_text(plan_json(plan), 2) + "\n" : plan_text(plan));
  return 0;
}

int run_sweep(const Options& options) {
  LiveLine line(stderr);
  const fs::path directory = directory_of(options);
  SweepPlan plan = plan_sweep(options.file, directory);
  tell_vanished(plan, line);
  if (options.dry_run) return show_plan(plan, options.json);
  if (!options.redo_changed) refuse_changes(plan);
  const RunLock lock(directory);
  // This is the look that counts: another sweep may have ended here meanwhile.
  plan = plan_sweep(options.file, directory);
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
  print_result(plan, outcome.record, options.json);
  return outcome.finished == cells ? 0 : kIncomplete;
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("sweep", "Train a grid of recipes, settings and seeds");
  auto options = std::make_shared<Options>();
  command->add_option("sweep", options->file, "Sweep file")->required();
  command->add_option("--run-dir", options->run_dir,
                      "Where the sweep's files go (default: runs/<sweep's name>)");
  command
      ->add_option("-j,--jobs", options->jobs, "Cells to train at a time; they share the threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--dry-run", options->dry_run, "List the cells, their cost and what is done");
  command->add_flag("--redo-changed", options->redo_changed,
                    "Remove the runs of cells whose recipe has changed, and train them anew");
  command->add_flag("-q,--quiet", options->quiet, "Print warnings, failures and the result only");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_sweep(*options); }; });
}

}  // namespace bitcycle::cli
