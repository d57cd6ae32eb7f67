// `bitcycle reproduce`: trains a table of a paper, whole or scaled down, and prints the paper's
// figures beside those found here. A table is a sweep that ships and says what the paper reports.

#include "bitcycle/base/error.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/compare/comparison_text.h"
#include "cli/recipe_files.h"
#include "cli/run_directory_option.h"
#include "cli/sweep/carry_out.h"
#include "cli/sweep/departures.h"
#include "cli/sweep/paper_table.h"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "A table is a sweep (docs/sweeps.md) in which every cell says what the paper reports. At a\n"
    "scale below 1 runs have that fraction of their steps; precision and learning rate follow the\n"
    "same course over them, warm-up and stages included; a rate that falls on plateaus has as "
    "many\n"
    "evaluations to fall at. What differs from the file is listed under the figures, since a\n"
    "paper's figure stands for its own setting. Without a name, the tables are listed.\n"
    "\n"
    "Examples:\n"
    "  bitcycle reproduce                                    which tables there are\n"
    "  bitcycle reproduce cpt/table2 --dry-run               its cells and their cost\n"
    "  bitcycle reproduce cpt/table2 --scale 0.05 --only resnet74\n"
    "  bitcycle reproduce cpt/table6 --set precision.scheme=integer --set "
    "precision.backend=integer\n"
    "                                                        in integers, in place of the papers' "
    "SBM\n"
    "\n"
    "The same command goes on where it was stopped or killed.";

struct Options {
  std::string table, run_dir;
  SweepOptions what;
  SweepConduct conduct;
};

bool is_table(const ShippedRecipe& recipe) {
  const std::string name = fs::path(recipe.name).filename().string();
  return name.starts_with("table") || name.starts_with("figure");
}

int list_tables() {
  Table table({"table", "what it is"});
  for (const ShippedRecipe& recipe : shipped_recipes()) {
    if (is_table(recipe))
      table.add_row({recipe.name, recipe.about.substr(0, recipe.about.find(". "))});
  }
  fmt::print("{}", table.text());
  return 0;
}

// Scales have directories of their own: their runs differ in length.
fs::path directory_of(const Options& options, const fs::path& file) {
  if (!options.run_dir.empty()) return options.run_dir;
  std::string name = file.parent_path().filename().string() + "-" + file.stem().string();
  if (options.what.scale != 1) name += fmt::format("-x{:g}", options.what.scale);
  return fs::path("runs") / name;
}

void print_result(const SweepPlan& plan, const SweepRecord& record, bool json) {
  const Comparison comparison = compare_sweep(plan.directory, record);
  const std::vector<PaperRow> rows = paper_rows(plan, comparison);
  const std::vector<Departure> changed = departures(plan);
  if (!json) {
    const std::string changes = departures_text(changed, plan.cells.size());
    fmt::print("{}\n{}{}{}", comparison_text(comparison), paper_text(rows),
               changes.empty() ? "" : "\n", changes);
    return;
  }
  auto result = comparison_json(comparison);
  result["papers"] = paper_json(rows);
  result["changed"] = departures_json(changed);
  fmt::print("{}\n", json_text(result, 2));
}

int run_reproduce(const Options& options) {
  if (options.table.empty()) return list_tables();
  const fs::path file = require_recipe(options.table);
  return carry_out({.file = file,
                    .directory = directory_of(options, file),
                    .what = options.what,
                    .conduct = options.conduct},
                   [&](const SweepPlan& plan, const SweepRecord& record) {
                     print_result(plan, record, options.conduct.json);
                   });
}

}  // namespace

void add_reproduce(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("reproduce", "Train a paper's table, and print both figures");
  auto options = std::make_shared<Options>();
  command->add_option("table", options->table, "Which table, e.g. cpt/table2; none: list them");
  command->add_option("--scale", options->what.scale, "Fraction of the paper's steps")
      ->check(CLI::Range(1e-6, 1.0))
      ->check(kFinite)
      ->capture_default_str();
  add_selection(*command, options->what);
  add_run_directory(*command, options->run_dir,
                    "Where the files go (default: runs/<paper>-<table>)");
  add_conduct(*command, options->conduct);
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_reproduce(*options); }; });
}

}  // namespace bitcycle::cli
