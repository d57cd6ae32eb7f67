#include "cli/recipe_files.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

namespace bitcycle::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSuffix = ".toml";

// Above the program: bin/ or libexec/bitcycle/ of an installation, build/bin/ of a source tree.
fs::path recipes_directory() {
  std::error_code error;
  fs::path above = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int level = 0; level < 3 && !error; ++level, above = above.parent_path()) {
    for (const fs::path& place : {above / "share/bitcycle/recipes", above / "recipes"}) {
      std::error_code ignored;
      if (fs::exists(place / "demo-cpt.toml", ignored)) return place;
    }
  }
  return {};
}

// The comment that a recipe opens with, without line breaks.
std::string opening_comment(const fs::path& file) {
  std::ifstream lines(file);
  std::string about;
  for (std::string line; std::getline(lines, line) && line.starts_with("#");) {
    const std::size_t text = line.find_first_not_of("# ");
    if (text == std::string::npos) continue;
    if (!about.empty()) about += ' ';
    about += line.substr(text);
  }
  return about;
}

std::string without_suffix(const std::string& given) {
  return given.ends_with(kSuffix) ? given.substr(0, given.size() - std::string(kSuffix).size())
                                  : given;
}

// With "recipes/" in front, as the documentation writes it, a name means the same.
std::string plain_name(const std::string& given) {
  const std::string name = without_suffix(given);
  const std::string prefix = "recipes/";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string last_part(const std::string& name) {
  return fs::path(name).filename().string();
}

}  // namespace

std::vector<ShippedRecipe> shipped_recipes() {
  const fs::path directory = recipes_directory();
  std::vector<ShippedRecipe> recipes;
  if (directory.empty()) return recipes;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().extension() != kSuffix) continue;
    const std::string name = entry.path().lexically_relative(directory).generic_string();
    recipes.push_back({without_suffix(name), entry.path(), opening_comment(entry.path())});
  }
  std::ranges::sort(recipes, {}, &ShippedRecipe::name);
  return recipes;
}

std::optional<fs::path> find_recipe(const std::string& given) {
  std::error_code ignored;
  if (fs::exists(given, ignored) && !fs::is_directory(given, ignored)) return given;
  return find_shipped_recipe(given);
}

std::optional<fs::path> find_shipped_recipe(const std::string& given) {
  const std::string name = plain_name(given);
  for (const ShippedRecipe& recipe : shipped_recipes()) {
    if (recipe.name == name || last_part(recipe.name) == name) return recipe.file;
  }
  return std::nullopt;
}

fs::path require_recipe(const std::string& given) {
  if (auto found = find_recipe(given)) return *std::move(found);
  std::vector<std::string> names;
  for (const ShippedRecipe& recipe : shipped_recipes()) names.push_back(last_part(recipe.name));
  const std::string meant = nearest_name(last_part(plain_name(given)), names);
  throw Error(ErrorCode::usage,
              fmt::format("\"{}\" is neither a file nor the name of a recipe that ships", given),
              fmt::format("{}`bitcycle recipes` lists them.",
                          meant.empty() ? "" : fmt::format("Did you mean \"{}\"? ", meant)));
}

}  // namespace bitcycle::cli
