// `bitcycle compare`: runs and sweeps side by side.

#include "bitcycle/base/error.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/compare/comparison_text.h"
#include "cli/runs/find_runs.h"
#include "cli/runs/run_paths.h"
#include "cli/sweep/sweep_record.h"
#include "io/is_there.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "Runs that differ only in the seed are one row, with mean, spread and standard error. The "
    "others are\nheld against the baseline: the last run, or that of --baseline. Costs are held "
    "against static at\nthe same upper bits, with --baseline against that run.\n"
    "\n"
    "Examples:\n"
    "  bitcycle compare runs/demo-cpt runs/demo-static\n"
    "  bitcycle compare runs/* --baseline demo-float\n"
    "  bitcycle compare runs                              all runs of a folder\n"
    "  bitcycle compare runs/cpt-or-static                the directory of a sweep\n"
    "  bitcycle compare runs/cpt-or-static --baseline float   a row of it by name";

struct Options {
  std::vector<std::string> runs;
  std::string baseline;
  bool all_keys = false;
  bool json = false;
};

bool is_run_or_sweep(const fs::path& directory) {
  return is_sweep(directory) || holds_run(directory);
}

// The directories that were given, in place of folders what is in them. Throws Error(usage) where
// nothing has such a name: it is a slip, and no run among others.
std::vector<fs::path> expanded(const std::vector<std::string>& given) {
  std::vector<fs::path> directories;
  for (const fs::path directory : given) {
    const std::vector<fs::path> found = find_directories(directory, is_run_or_sweep);
    if (found.empty() && !is_there(directory)) throw no_run_in(directory);
    if (found.empty()) directories.push_back(directory);  // has a row that says so
    directories.insert(directories.end(), found.begin(), found.end());
  }
  return directories;
}

// Groups of several sweeps may have the same names.
void name_by_sweep(const fs::path& sweep, std::vector<ComparedRun>& runs) {
  const std::string name = (sweep.has_filename() ? sweep : sweep.parent_path()).filename();
  for (ComparedRun& run : runs) {
    run.group = name + "/" + run.group;
    run.baseline = name + "/" + run.baseline;
  }
}

std::vector<ComparedRun> runs_of(const std::vector<fs::path>& directories) {
  const bool several = std::ranges::count_if(directories, is_sweep) > 1;
  std::vector<ComparedRun> runs;
  for (const fs::path& directory : directories) {
    if (!is_sweep(directory)) {
      runs.push_back({look_at_run(directory)});
      continue;
    }
    std::vector<ComparedRun> cells = sweep_runs(directory, read_sweep_record(directory));
    if (several) name_by_sweep(directory, cells);
    std::ranges::move(cells, std::back_inserter(runs));
  }
  return runs;
}

bool same_place(const fs::path& a, const fs::path& b) {
  std::error_code missing;
  return fs::equivalent(a, b, missing);
}

// The names of sweeps' groups.
std::set<std::string> rows_of(const std::vector<ComparedRun>& runs) {
  std::set<std::string> rows;
  for (const ComparedRun& run : runs) {
    if (!run.group.empty()) rows.insert(run.group);
  }
  return rows;
}

// The only one of the runs whose directory has this name, wherever it stands.
std::optional<std::size_t> only_run_named(const std::string& name,
                                          const std::vector<ComparedRun>& runs) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (run_name(runs[i].run.run) != name) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// A run by its directory or the last part of it, or a sweep's group by its name; a run that is not
// among the others joins them.
std::size_t find_baseline(const std::string& baseline, std::vector<ComparedRun>& runs) {
  const auto fits = [&](const ComparedRun& compared) {
    return compared.group == baseline || same_place(compared.run.run, baseline);
  };
  const auto found = std::ranges::find_if(runs, fits);
  if (found != runs.end()) return static_cast<std::size_t>(found - runs.begin());
  const auto named = only_run_named(baseline, runs);
  if (named && !holds_run(baseline)) return *named;
  if (const auto rows = rows_of(runs); !rows.empty() && !holds_run(baseline)) {
    throw Error(ErrorCode::usage,
                fmt::format("--baseline: there is no row and no run directory \"{}\"", baseline),
                fmt::format("Rows are: {}.", fmt::join(rows, ", ")));
  }
  run_recipe(baseline);  // throws where there is no run
  runs.push_back({look_at_run(baseline)});
  return runs.size() - 1;
}

// The last that can be read.
std::size_t usual_baseline(const std::vector<ComparedRun>& runs) {
  for (std::size_t i = runs.size(); i-- > 0;) {
    if (runs[i].run.state != SummaryState::unreadable) return i;
  }
  return runs.size() - 1;
}

// One run among others that cannot be read is a row; where there are no others, it is an error.
void require_a_run(const std::vector<ComparedRun>& runs) {
  const auto readable = [](const ComparedRun& compared) {
    return compared.run.state != SummaryState::unreadable;
  };
  if (std::ranges::any_of(runs, readable)) return;
  const RunSummary& run = runs.front().run;
  if (!holds_run(run.run)) throw no_run_in(run.run);
  throw Error(ErrorCode::io, run.trouble);
}

Comparison compare_with(const std::string& baseline, std::vector<ComparedRun>& runs) {
  const std::size_t stated = find_baseline(baseline, runs);
  for (ComparedRun& run : runs) run.baseline.clear();
  return compare_runs(runs, stated, CostReference::baseline);
}

int run_compare(const Options& options) {
  std::vector<ComparedRun> runs = runs_of(expanded(options.runs));
  require_a_run(runs);
  const Comparison comparison = options.baseline.empty() ? compare_runs(runs, usual_baseline(runs))
                                                         : compare_with(options.baseline, runs);
  const KeyList keys = options.all_keys ? KeyList::all : KeyList::brief;
  fmt::print("{}", options.json ? json_text(comparison_json(comparison), 2) + "\n"
                                : comparison_text(comparison, keys));
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compare", "Accuracy, cost and time of runs and sweeps");
  auto options = std::make_shared<Options>();
  command->add_option("runs", options->runs, "Directories of runs or sweeps, or folders of them")
      ->required();
  command->add_option("--baseline", options->baseline,
                      "What the others are compared with: a run, or a row of a sweep [the last]");
  command->add_flag(
      "--all-keys", options->all_keys,
      "Of runs of different networks or datasets, list all keys in which they differ");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_compare(*options); }; });
}

}  // namespace bitcycle::cli
