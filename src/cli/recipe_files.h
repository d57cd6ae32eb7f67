#pragma once

// Recipes, and sweeps of them, by name. Those that ship stand in share/bitcycle/recipes once
// installed and in recipes/ of the source tree; a command takes `demo-cpt` for
// recipes/demo-cpt.toml, from any directory. A file of one's own comes first.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct ShippedRecipe {
  std::string name;  // "demo-cpt", "cpt/cifar100-resnet74-cpt-3-8"
  std::filesystem::path file;
  std::string about;  // the file's first comment
};

// All that ship, sorted; none where the program stands alone.
std::vector<ShippedRecipe> shipped_recipes();

// The file that `given` means, if it means a recipe: a path that exists, or the name of a shipped
// one, with or without its directory and ".toml".
std::optional<std::filesystem::path> find_recipe(const std::string& given);

// Of one that ships alone.
std::optional<std::filesystem::path> find_shipped_recipe(const std::string& name);

// find_recipe. Throws Error(usage) with the nearest names.
std::filesystem::path require_recipe(const std::string& given);

}  // namespace bitcycle::cli
