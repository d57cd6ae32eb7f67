#include "config/sweep_parts.h"

#include "bitcycle/base/nearest.h"
#include "bitcycle/config/task_kind.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kKeys = {"recipe", "seeds", "baseline", "set", "axes", "variants"};
// Of a variant, besides those of a recipe.
const std::vector<std::string> kVariantKeys = {"recipe", "baseline", "paper"};
// What a sweep's directory holds besides its cells.
const std::vector<std::string> kSweepFiles = {"logs", "sweep.json", "table.txt"};

[[noreturn]] void refuse(const std::string& key, const toml::node& node,
                         const std::string& expected, const std::string& hint = "") {
  throw recipe_error(node.source(),
                     fmt::format("{}: expected {}, found {}", key, expected, in_words(node)), hint);
}

void refuse_recipe(const toml::table& document, const std::string& origin) {
  const auto is_own = [&](const std::string& key) { return document.contains(key); };
  if (document.empty() || std::ranges::any_of(kKeys, is_own)) return;
  throw recipe_error(document.source(), "this is a recipe, which describes one run, and no sweep",
                     fmt::format("Train it with `bitcycle train {}`; a sweep names it: recipe = "
                                 "\"PATH\".",
                                 origin));
}

void refuse_unknown(const toml::table& document) {
  for (auto&& [key, node] : document) {
    const std::string name(key.str());
    if (std::ranges::find(kKeys, name) != kKeys.end()) continue;
    throw recipe_error(key.source(), "unknown key " + name,
                       suggest(name, kKeys) + " A recipe's keys stand in [set].");
  }
}

// toml++ sorts keys by name; people expect the order of the file.
struct Entry {
  std::string key;
  toml::source_region where;
  const toml::node* node;
};
std::vector<Entry> in_file_order(const toml::table& table) {
  std::vector<Entry> entries;
  for (auto&& [key, node] : table) {
    entries.push_back({std::string(key.str()), key.source(), &node});
  }
  const auto earlier = [](const Entry& a, const Entry& b) {
    return std::pair(a.where.begin.line, a.where.begin.column) <
           std::pair(b.where.begin.line, b.where.begin.column);
  };
  std::ranges::sort(entries, earlier);
  return entries;
}

const toml::table& table_of(const std::string& key, const toml::node& node) {
  if (!node.is_table()) refuse(key, node, "a table");
  return *node.as_table();
}

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '+';
}

std::string words_of(const toml::node& node) {
  if (node.is_string()) return *node.value<std::string>();
  if (!node.is_table()) return on_one_line(node);
  std::string text;
  for (const auto& [key, where, value] : in_file_order(*node.as_table())) {
    text += key + " " + words_of(*value) + " ";
  }
  return text;
}

// A value as part of a directory's name: what is no letter, digit or . _ - + becomes a dash.
std::string value_name(const toml::node& node) {
  const std::string text = words_of(node);
  std::string name;
  for (const char c : text) {
    if (is_part_of_name(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

Assignment assignment(const std::string& key, const toml::node& node) {
  return {key + "=" + on_one_line(node), place_text(node.source())};
}

// Keys may be dotted or stand in tables. A table in braces is a value, but never at the top, where
// recipes have their sections.
void add_assignments(const toml::table& table, const std::string& prefix,
                     std::vector<Assignment>& assignments,
                     const std::vector<std::string>& but = {}) {
  for (const auto& [key, where, node] : in_file_order(table)) {
    if (std::ranges::find(but, key) != but.end()) continue;
    const toml::table* inner = node->as_table();
    if (inner != nullptr && (prefix.empty() || !inner->is_inline())) {
      add_assignments(*inner, prefix + key + ".", assignments);
    } else {
      assignments.push_back(assignment(prefix + key, *node));
    }
  }
}

fs::path recipe_path(const toml::node& node, const RecipePlaces& places) {
  if (!node.is_string()) refuse("recipe", node, "the path of a recipe, or the name of one");
  const std::string given = *node.value<std::string>();
  const fs::path path = (places.directory / given).lexically_normal();
  if (fs::exists(path) && !fs::is_directory(path)) return path;
  if (places.find) {
    if (auto found = places.find(given)) return *std::move(found);
  }
  throw recipe_error(node.source(), fmt::format("recipe: there is no file \"{}\"", path.string()),
                     "Paths are looked for from the directory of the sweep's file; `bitcycle "
                     "recipes` lists the names of those that ship.");
}

std::vector<Choice> recipes_of(const toml::table& document, const RecipePlaces& places) {
  std::vector<Choice> recipes;
  const toml::node* node = document.get("recipe");
  if (node == nullptr) return recipes;
  const auto add = [&](const toml::node& entry) {
    const fs::path path = recipe_path(entry, places);
    recipes.push_back({path.stem().string(), {}, path});
  };
  if (!node->is_array()) {
    add(*node);
    return recipes;
  }
  if (node->as_array()->empty()) refuse("recipe", *node, "a recipe or more", "Name one.");
  for (const toml::node& entry : *node->as_array()) add(entry);
  return recipes;
}

std::string baseline_of(const toml::node& node) {
  if (!node.is_string()) refuse("baseline", node, "the name of a variant");
  return *node.value<std::string>();
}

// What a task is scored by, and the cost.
void require_figure(const std::string& key, const toml::source_region& where) {
  const std::vector<std::string> known = {metrics_of(TaskKind::image_classification).primary().name,
                                          metrics_of(TaskKind::language_model).primary().name,
                                          "gbitops"};
  if (std::ranges::find(known, key) != known.end()) return;
  throw recipe_error(where, "paper: there is no figure \"" + key + "\"", suggest(key, known));
}

std::map<std::string, double> paper_of(const toml::node& node) {
  std::map<std::string, double> figures;
  for (const auto& [key, where, value] : in_file_order(table_of("paper", node))) {
    if (!value->is_number()) refuse("paper." + key, *value, "a number");
    require_figure(key, where);
    figures[key] = *value->value<double>();
  }
  return figures;
}

// A variant's name becomes part of directories' names, beside what the sweep keeps there itself.
void require_directory_name(const Entry& entry) {
  constexpr std::size_t kLongest = 120;
  const std::string& name = entry.key;
  const auto refuse_name = [&](const std::string& expected) {
    throw recipe_error(entry.where,
                       fmt::format("variants: expected {}, found \"{}\"", expected, name),
                       "It becomes part of directories' names.");
  };
  if (name.empty() || name.starts_with('.') || !std::ranges::all_of(name, is_part_of_name)) {
    refuse_name("a name of letters, digits, dots, dashes and underscores");
  }
  if (name.size() > kLongest) refuse_name(fmt::format("a name of at most {} letters", kLongest));
  if (std::ranges::find(kSweepFiles, name) != kSweepFiles.end()) {
    refuse_name("a name that no file of the sweep has");
  }
}

Choice variant_of(const Entry& entry, const RecipePlaces& places) {
  require_directory_name(entry);
  Choice variant{entry.key, {}};
  const std::string place = "variants." + entry.key;
  const toml::table& content = table_of(place, *entry.node);
  if (const toml::node* recipe = content.get("recipe")) {
    variant.recipe = recipe_path(*recipe, places);
  }
  if (const toml::node* baseline = content.get("baseline")) {
    variant.baseline = baseline_of(*baseline);
  }
  if (const toml::node* paper = content.get("paper")) variant.paper = paper_of(*paper);
  add_assignments(content, "", variant.assignments, kVariantKeys);
  return variant;
}

std::vector<Choice> variants_of(const toml::table& document, const RecipePlaces& places) {
  std::vector<Choice> variants;
  const toml::node* node = document.get("variants");
  if (node == nullptr) return variants;
  for (const Entry& entry : in_file_order(table_of("variants", *node))) {
    variants.push_back(variant_of(entry, places));
  }
  return variants;
}

struct Axis {
  std::string key;
  const toml::node* node;
};

void add_axes(const toml::table& table, const std::string& prefix, std::vector<Axis>& axes) {
  for (const auto& [key, where, node] : in_file_order(table)) {
    if (const toml::table* inner = node->as_table()) {
      add_axes(*inner, prefix + key + ".", axes);
    } else {
      axes.push_back({prefix + key, node});
    }
  }
}

std::vector<Choice> values_of(const Axis& axis, const std::string& shown) {
  const std::string key = "axes." + axis.key;
  const toml::array* values = axis.node->as_array();
  if (values == nullptr || values->empty()) refuse(key, *axis.node, "a list of values");
  if (axis.key == "seed") {
    throw recipe_error(axis.node->source(), key + ": seeds are no axis", "Write seeds = [1, 2].");
  }
  std::vector<Choice> choices;
  std::set<std::string> names;
  for (const toml::node& value : *values) {
    const std::string name = shown + "=" + value_name(value);
    if (!names.insert(name).second) {
      throw recipe_error(value.source(),
                         fmt::format("{}: two values would both be called \"{}\"", key, name),
                         "Leave one out, or give them names as [variants.NAME].");
    }
    choices.push_back({name, {assignment(axis.key, value)}});
  }
  return choices;
}

std::string last_part(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

// Called by the last part of their keys, where that tells them apart.
std::vector<std::vector<Choice>> axes_of(const toml::table& document) {
  std::vector<Axis> axes;
  if (const toml::node* node = document.get("axes")) add_axes(table_of("axes", *node), "", axes);
  std::vector<std::vector<Choice>> choices;
  for (const Axis& axis : axes) {
    const std::string brief = last_part(axis.key);
    const auto shared = std::ranges::count_if(
        axes, [&](const Axis& other) { return last_part(other.key) == brief; });
    choices.push_back(values_of(axis, shared > 1 ? axis.key : brief));
  }
  return choices;
}

std::vector<Choice> seeds_of(const toml::table& document) {
  std::vector<Choice> seeds;
  const toml::node* node = document.get("seeds");
  if (node == nullptr) return seeds;
  const std::string expected = "a list of whole numbers, such as [1, 2, 3]";
  if (!node->is_array() || node->as_array()->empty()) refuse("seeds", *node, expected);
  for (const toml::node& seed : *node->as_array()) {
    if (!seed.is_integer()) refuse("seeds", seed, "a whole number");
    const std::string name = "seed=" + value_name(seed);
    if (std::ranges::find(seeds, name, &Choice::name) != seeds.end()) {
      throw recipe_error(seed.source(), "seeds: there are two of " + in_words(seed));
    }
    seeds.push_back({name, {assignment("seed", seed)}});
  }
  return seeds;
}

void require_recipes(const SweepParts& parts) {
  const auto has_none = [](const Choice& variant) { return variant.recipe.empty(); };
  const bool needed = parts.variants.empty() || std::ranges::any_of(parts.variants, has_none);
  if (!needed || !parts.recipes.empty()) return;
  throw recipe_error(parts.document, "expected a recipe, found none",
                     "Write recipe = \"PATH\", relative to this file.");
}

// Seeds of the whole sweep take the place of a variant's, which would be lost in silence.
void require_one_place_for_seeds(const SweepParts& parts) {
  if (parts.seeds.empty()) return;
  const auto refuse_seed = [](const std::vector<Assignment>& assignments) {
    for (const Assignment& assignment : assignments) {
      if (!assignment.setting.starts_with("seed=")) continue;
      throw Error(ErrorCode::recipe,
                  assignment.place + ": seed stands beside seeds, which replace it",
                  "Leave one of them out.");
    }
  };
  refuse_seed(parts.everywhere);
  for (const Choice& variant : parts.variants) refuse_seed(variant.assignments);
}

void require_names_apart(const toml::table& document, const std::vector<Choice>& recipes) {
  std::set<std::string> names;
  for (const Choice& recipe : recipes) {
    if (names.insert(recipe.name).second) continue;
    throw recipe_error(document.get("recipe")->source(),
                       fmt::format("recipe: two are called \"{}\"", recipe.name),
                       "Give them names as [variants.NAME], each with its recipe.");
  }
}

}  // namespace

bool describes_sweep(const toml::table& document) {
  return document.contains("recipe") || document.contains("variants");
}

SweepParts sweep_parts(const toml::table& document, const std::string& origin,
                       const RecipePlaces& places) {
  refuse_recipe(document, origin);
  refuse_unknown(document);
  SweepParts parts{.recipes = recipes_of(document, places),
                   .variants = variants_of(document, places),
                   .axes = axes_of(document),
                   .seeds = seeds_of(document)};
  parts.document = {{}, {}, std::make_shared<const std::string>(origin)};
  if (const toml::node* set = document.get("set")) {
    add_assignments(table_of("set", *set), "", parts.everywhere);
  }
  if (const toml::node* baseline = document.get("baseline")) {
    parts.baseline = baseline_of(*baseline);
    parts.baseline_place = baseline->source();
  }
  require_names_apart(document, parts.recipes);
  require_recipes(parts);
  require_one_place_for_seeds(parts);
  return parts;
}

}  // namespace bitcycle
