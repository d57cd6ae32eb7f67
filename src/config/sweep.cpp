#include "bitcycle/config/sweep.h"

#include "bitcycle/base/nearest.h"
#include "bitcycle/config/scale.h"
#include "bitcycle/io/file.h"

#include "config/sweep_parts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCells = 10'000;

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "," + b;
}

// What a group of cells takes of each part. Its head is the recipe's and the variant's name, its
// tail the values on the axes.
struct GroupPlan {
  fs::path recipe;
  std::string head, tail;
  std::vector<Assignment> assignments;
  std::string baseline = "";  // its variant's own
  std::map<std::string, double> paper = {};

  std::string name() const { return joined(head, tail); }
};

void append(std::vector<Assignment>& to, const std::vector<Assignment>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Recipes x variants. A variant with a recipe of its own is not multiplied by the others; a name
// that all groups would have is left out where another part has one.
std::vector<GroupPlan> heads(const SweepParts& parts) {
  const bool several = parts.recipes.size() > 1;
  std::vector<GroupPlan> groups;
  if (parts.variants.empty()) {
    for (const Choice& recipe : parts.recipes) {
      const bool named = several || parts.axes.empty();
      groups.push_back({recipe.recipe, named ? recipe.name : "", "", parts.everywhere});
    }
    return groups;
  }
  const auto add = [&](const fs::path& recipe, const std::string& head, const Choice& variant) {
    groups.push_back({recipe, head, "", parts.everywhere, variant.baseline, variant.paper});
    append(groups.back().assignments, variant.assignments);
  };
  for (const Choice& variant : parts.variants) {
    if (!variant.recipe.empty()) {
      add(variant.recipe, variant.name, variant);
      continue;
    }
    for (const Choice& recipe : parts.recipes) {
      add(recipe.recipe, several ? recipe.name + "," + variant.name : variant.name, variant);
    }
  }
  return groups;
}

std::vector<GroupPlan> multiplied(const std::vector<GroupPlan>& groups,
                                  const std::vector<Choice>& axis) {
  std::vector<GroupPlan> product;
  for (const GroupPlan& group : groups) {
    for (const Choice& value : axis) {
      product.push_back(group);
      product.back().tail = joined(group.tail, value.name);
      append(product.back().assignments, value.assignments);
    }
  }
  return product;
}

// The number of cells before they are made.
void require_countable(const SweepParts& parts) {
  double cells = static_cast<double>(std::max<std::size_t>(1, parts.recipes.size()) *
                                     std::max<std::size_t>(1, parts.variants.size()) *
                                     std::max<std::size_t>(1, parts.seeds.size()));
  for (const auto& axis : parts.axes) cells *= static_cast<double>(axis.size());
  if (cells <= static_cast<double>(kMostCells)) return;
  throw recipe_error(
      parts.document,
      fmt::format("expected a sweep of at most {} cells, found {:.0f}", kMostCells, cells));
}

// The group with the stated head and the same tail; or the one that is stated in full. Where
// variants name theirs, the others are baselines themselves, and are compared with nothing.
class Baselines {
 public:
  Baselines(const SweepParts& parts, const std::vector<GroupPlan>& groups) : groups_(groups) {
    if (!parts.baseline.empty()) require_known(parts.baseline_place, parts.baseline);
    bool some_name_theirs = false;
    for (const GroupPlan& group : groups) {
      if (group.baseline.empty()) continue;
      require_known(parts.document, group.baseline);
      some_name_theirs = true;
    }
    stated_ = parts.baseline;
    if (stated_.empty() && !some_name_theirs) stated_ = last();
  }

  std::string of(const GroupPlan& group) const {
    const std::string& stated = group.baseline.empty() ? stated_ : group.baseline;
    if (stated.empty()) return group.name();
    for (const GroupPlan& other : groups_) {
      if (other.head == stated && other.tail == group.tail) return other.name();
    }
    return known_name(stated) ? stated : groups_.back().name();
  }

 private:
  void require_known(const toml::source_region& place, const std::string& stated) const {
    if (known(stated)) return;
    std::vector<std::string> names;
    for (const GroupPlan& group : groups_) names.push_back(group.name());
    throw recipe_error(place, fmt::format("baseline: there is no variant \"{}\"", stated),
                       suggest(stated, names));
  }
  bool known_name(const std::string& name) const {
    return std::ranges::any_of(groups_, [&](const GroupPlan& g) { return g.name() == name; });
  }
  bool known(const std::string& name) const {
    return known_name(name) ||
           std::ranges::any_of(groups_, [&](const GroupPlan& g) { return g.head == name; });
  }

  // With axes alone groups have no heads.
  std::string last() const {
    return groups_.back().head.empty() ? groups_.back().name() : groups_.back().head;
  }

  const std::vector<GroupPlan>& groups_;
  std::string stated_;
};

// A mistake in a setting is reported where the sweep states it; one of the recipe with the cell
// that brought it out.
[[noreturn]] void report(const Error& error, const std::string& cell,
                         const std::vector<Assignment>& assignments) {
  const std::string what = error.what();
  for (const Assignment& assignment : assignments) {
    const std::string origin = "--set " + assignment.setting;
    if (!what.starts_with(origin + ": ")) continue;
    throw Error(error.code(), assignment.place + what.substr(origin.size()), error.hint());
  }
  throw Error(error.code(), fmt::format("{} (in cell {})", what, cell), error.hint());
}

class RecipeTexts {
 public:
  const std::string& of(const fs::path& file) {
    const auto known = texts_.find(file);
    if (known != texts_.end()) return known->second;
    const auto bytes = read_regular_file(file, ErrorCode::recipe);
    return texts_[file] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::map<fs::path, std::string> texts_;
};

Recipe cell_recipe(const GroupPlan& group, const std::string& cell, const std::string& text,
                   const std::vector<Assignment>& seed, const std::vector<std::string>& more) {
  std::vector<Assignment> assignments = group.assignments;
  append(assignments, seed);
  std::vector<std::string> settings;
  for (const Assignment& assignment : assignments) settings.push_back(assignment.setting);
  settings.insert(settings.end(), more.begin(), more.end());
  try {
    return parse_recipe(text, group.recipe.string(), settings);
  } catch (const Error& error) {
    report(error, cell, assignments);
  }
}

// What a file leaves to settings, the length of its runs for instance, makes no recipe without
// them.
template <typename Read>
Recipe valid_or(const Recipe& otherwise, const Read& read) {
  try {
    return read();
  } catch (const Error&) {
    return otherwise;
  }
}

std::vector<SweepCell> cells_of(const SweepParts& parts, const std::vector<GroupPlan>& groups,
                                const SweepOptions& options) {
  const Baselines baselines(parts, groups);
  // Without seeds a group has one cell, of the recipe's seed and without a name for it.
  const std::vector<Choice> seeds =
      parts.seeds.empty() ? std::vector<Choice>{{"", {}}} : parts.seeds;
  RecipeTexts texts;
  std::vector<SweepCell> cells;
  for (const GroupPlan& group : groups) {
    for (const Choice& seed : seeds) {
      const std::string name = joined(group.name(), seed.name);
      if (name.find(options.only) == std::string::npos) continue;
      cells.push_back({name, group.name(), baselines.of(group), {}, {}, group.paper});
      if (options.recipes == SweepOptions::Recipes::unread) continue;
      const auto recipe = [&](const std::vector<std::string>& settings) {
        return cell_recipe(group, name, texts.of(group.recipe), seed.assignments, settings);
      };
      const Recipe wanted = recipe(options.settings);
      cells.back().recipe = scaled(wanted, options.scale);
      cells.back().stated =
          options.settings.empty() ? wanted : valid_or(wanted, [&] { return recipe({}); });
    }
  }
  if (!cells.empty()) return cells;
  throw Error(ErrorCode::usage,
              fmt::format("no cell has \"{}\" in its name, such as \"{}\"", options.only,
                          groups.front().name()),
              "--dry-run lists the cells.");
}

}  // namespace

std::vector<SweepCell> parse_sweep(std::string_view text, const std::string& origin,
                                   const fs::path& directory, const SweepOptions& options) {
  const toml::table document = parse_toml(text, origin);
  const SweepParts parts = sweep_parts(document, origin, {directory, options.find_recipe});
  require_countable(parts);
  std::vector<GroupPlan> groups = heads(parts);
  for (const auto& axis : parts.axes) groups = multiplied(groups, axis);
  return cells_of(parts, groups, options);
}

std::vector<SweepCell> read_sweep(const fs::path& file, const SweepOptions& options) {
  const auto bytes = read_regular_file(file, ErrorCode::recipe);
  return parse_sweep({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                     file.parent_path(), options);
}

}  // namespace bitcycle
