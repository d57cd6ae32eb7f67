#include "cli/runs/run_paths.h"

#include "bitcycle/base/error.h"

#include "cli/recipe_files.h"
#include "io/is_there.h"

#include <sstream>

namespace bitcycle::cli {

namespace fs = std::filesystem;

// A directory that happens to have the name of a recipe is none.
bool names_run(const fs::path& given) {
  std::error_code ignored;
  if (!fs::is_directory(given, ignored)) return false;
  return is_there(given / "recipe.toml") || !find_recipe(given.string());
}

TrainPaths train_paths(const TrainOptions& options) {
  const fs::path given = options.recipe;
  if (names_run(given)) {
    if (options.run_dir.empty()) return {run_recipe(given), given};
    return {run_recipe(given), options.run_dir};
  }
  const fs::path recipe = require_recipe(options.recipe);
  if (!options.run_dir.empty()) return {recipe, options.run_dir};
  return {recipe, fs::path("runs") / recipe.stem()};
}

fs::path run_recipe(const fs::path& run_directory) {
  const fs::path recipe = run_directory / "recipe.toml";
  if (is_there(recipe)) return recipe;
  throw Error(ErrorCode::usage,
              "\"" + run_directory.string() + "\" is no run directory: it has no recipe.toml",
              "Run directories are made by `bitcycle train` (below runs/ by default).");
}

std::string run_name(const fs::path& run_directory) {
  const fs::path whole = fs::absolute(run_directory).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<Width> parse_widths(const std::string& list) {
  std::vector<Width> widths;
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    widths.push_back({part, parse_evaluation_bits(part)});
  }
  if (widths.empty()) parse_evaluation_bits("");
  return widths;
}

}  // namespace bitcycle::cli
