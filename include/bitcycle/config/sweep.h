#pragma once

// A sweep describes a grid of runs: recipes x variants x axes x seeds. docs/sweeps.md has the keys.
//
//   recipe = "demo-cpt.toml"           # or a list; relative to the sweep's file, or a known name
//   seeds = [1, 2, 3]
//   baseline = "static"                # what the others are compared with; default: the last,
//                                      # unless variants name theirs
//   [set]                              # of every cell, laid over the recipe
//   steps = 200
//   [axes]                             # each list multiplies the grid
//   optimizer.lr = [0.1, 0.05]
//   [variants.cpt]                     # recipes' keys, by a name
//   [variants.static]
//   precision.forward = 8
//   paper = { accuracy = 92.57 }       # what a paper reports of it
//
// A variant may name a `recipe` and a `baseline` of its own.
//
// Reading a sweep checks the recipe of every cell. Mistakes are Error(recipe) with file, line,
// column and the nearest known name.

#include "bitcycle/config/recipe.h"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

struct SweepCell {
  std::string name;      // "cpt,lr=0.1,seed=2", a directory's
  std::string group;     // "cpt,lr=0.1": cells that differ in the seed alone
  std::string baseline;  // the group that it is compared with; its own where there is none
  Recipe recipe;
  Recipe stated = {};  // as the file has it, at full length and before any settings
  std::map<std::string, double> paper = {};  // reported figures by name: a metric, gbitops
};

// The file of a recipe that has a name of its own; nothing where there is none.
using FindRecipe = std::function<std::optional<std::filesystem::path>(const std::string& name)>;

// What to make of a sweep.
struct SweepOptions {
  std::vector<std::string> settings;  // laid over every cell, as "key=value"
  std::string only;                   // leaves out the cells without this in their names
  double scale = 1;                   // of the length of every run (config/scale.h)
  enum class Recipes { read, unread };
  Recipes recipes = Recipes::read;  // unread: cells have their names alone, and none is checked
  FindRecipe find_recipe = {};      // of a recipe that is no file
};

// The cells in the order of the file, the seeds of a group one after the other. Throws
// Error(recipe), Error(usage) when no cell is left.
std::vector<SweepCell> read_sweep(const std::filesystem::path& file,
                                  const SweepOptions& options = {});
// The same for text; recipes are looked for from `directory`.
std::vector<SweepCell> parse_sweep(std::string_view text, const std::string& origin,
                                   const std::filesystem::path& directory,
                                   const SweepOptions& options = {});

}  // namespace bitcycle
