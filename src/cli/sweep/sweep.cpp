// `bitcycle sweep`: trains a grid of recipes and prints what they came to.

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/compare/comparison_text.h"
#include "cli/recipe_files.h"
#include "cli/run_directory_option.h"
#include "cli/sweep/carry_out.h"

#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "A sweep is a TOML file: a recipe, seeds, variants by name and axes that multiply;\n"
    "docs/sweeps.md has its keys. Every cell is an ordinary run below the sweep's directory.\n"
    "The same command goes on where a sweep was stopped or killed: what is finished stays, what "
    "is\n"
    "not resumes, what failed is tried again.\n"
    "\n"
    "Examples:\n"
    "  bitcycle sweep cpt-or-static --dry-run    one that ships: what it would train, and cost\n"
    "  bitcycle sweep mine.toml --jobs 2\n"
    "  bitcycle sweep mine.toml --only seed=1 --set data.root=DIR\n"
    "  bitcycle compare runs/mine                its table again\n"
    "\n"
    "Ctrl-C stops all cells with a checkpoint and exits with 130; a second one exits at once. The\n"
    "status is 0 when all cells have finished, 9 when some have failed.";

struct Options {
  std::string file;
  std::string run_dir;
  SweepOptions what;
  SweepConduct conduct;
};

fs::path directory_of(const Options& options, const fs::path& file) {
  if (!options.run_dir.empty()) return options.run_dir;
  return fs::path("runs") / file.stem();
}

void print_result(const SweepPlan& plan, const SweepRecord& record, bool json) {
  const Comparison comparison = compare_sweep(plan.directory, record);
  fmt::print("{}",
             json ? json_text(comparison_json(comparison), 2) + "\n" : comparison_text(comparison));
}

int run_sweep(const Options& options) {
  const fs::path file = require_recipe(options.file);
  return carry_out({.file = file,
                    .directory = directory_of(options, file),
                    .what = options.what,
                    .conduct = options.conduct},
                   [&](const SweepPlan& plan, const SweepRecord& record) {
                     print_result(plan, record, options.conduct.json);
                   });
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("sweep", "Train a grid of recipes, settings and seeds");
  auto options = std::make_shared<Options>();
  command->add_option("sweep", options->file, "Sweep file, or the name of one that ships")
      ->required();
  add_run_directory(*command, options->run_dir,
                    "Where the sweep's files go (default: runs/<sweep's name>)");
  add_selection(*command, options->what);
  add_conduct(*command, options->conduct);
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_sweep(*options); }; });
}

}  // namespace bitcycle::cli
