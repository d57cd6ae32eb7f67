#pragma once

// The parts of a sweep's document, each with its place: what one cell takes of every part is laid
// over its recipe as settings. Private to config.

#include "bitcycle/config/sweep.h"

#include "config/toml.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bitcycle {

// A recipe's key and its value as in --set, and where it stands.
struct Assignment {
  std::string setting;
  std::string place;
};

// One of several things that cells may have; its name becomes part of theirs.
struct Choice {
  std::string name;
  std::vector<Assignment> assignments;
  // Of variants that have their own:
  std::filesystem::path recipe = {};
  std::string baseline = "";
  std::map<std::string, double> paper = {};
};

struct SweepParts {
  std::vector<Choice> recipes;            // at least one, unless every variant has its own
  std::vector<Assignment> everywhere;     // [set]
  std::vector<Choice> variants;           // in the file's order
  std::vector<std::vector<Choice>> axes;  // likewise
  std::vector<Choice> seeds;              // empty: the recipe's
  std::string baseline;
  toml::source_region baseline_place, document;
};

// Whether a document is meant as a sweep: recipes have neither of the keys that name what its cells
// begin with.
bool describes_sweep(const toml::table& document);

// Where recipes are looked for: from a directory, then by name.
struct RecipePlaces {
  std::filesystem::path directory;
  FindRecipe find;
};

SweepParts sweep_parts(const toml::table& document, const std::string& origin,
                       const RecipePlaces& places);

}  // namespace bitcycle
