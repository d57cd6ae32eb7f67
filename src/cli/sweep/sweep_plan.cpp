#include "cli/sweep/sweep_plan.h"

#include "bitcycle/base/error.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/table.h"

#include "cli/cost/cost_recipe.h"
#include "cli/recipe_files.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

PlannedCell planned_cell(const fs::path& directory, const SweepCell& cell) {
  PlannedCell planned{cell, look_at_run(directory / cell.name), {}};
  if (planned.run.state != SummaryState::unreadable &&
      fingerprint(planned.run.recipe) != fingerprint(planned.cell.recipe)) {
    planned.changes = differences(planned.run.recipe, planned.cell.recipe);
  }
  return planned;
}

void refuse_run(const fs::path& directory) {
  if (!fs::exists(directory / "recipe.toml")) return;
  throw Error(ErrorCode::usage, "\"" + directory.string() + "\" holds a run, and no sweep",
              "Choose another place with --run-dir.");
}

std::vector<std::string> vanished_cells(const fs::path& directory, const SweepRecord& before,
                                        const std::vector<SweepCell>& file) {
  std::vector<std::string> vanished;
  for (const CellRecord& old : before.cells) {
    const bool there = std::ranges::find(file, old.name, &SweepCell::name) != file.end();
    if (!there && fs::exists(directory / old.name)) vanished.push_back(old.name);
  }
  return vanished;
}

bool is_planned(const SweepPlan& plan, const SweepCell& cell) {
  return std::ranges::any_of(
      plan.cells, [&](const PlannedCell& planned) { return planned.cell.name == cell.name; });
}

SweepRecord record_of(const SweepPlan& plan, const SweepRecord& before,
                      const std::vector<SweepCell>& file) {
  SweepRecord record{plan.sweep, {}};
  for (const SweepCell& cell : file) {
    CellRecord own{cell.name, cell.group, cell.baseline, ""};
    if (is_planned(plan, cell)) {
      record.cells.push_back(std::move(own));
    } else if (fs::exists(plan.directory / cell.name)) {
      const auto old = std::ranges::find(before.cells, cell.name, &CellRecord::name);
      if (old != before.cells.end()) own.failure = old->failure;
      record.cells.push_back(std::move(own));
    }
  }
  return record;
}

// Of cells that differ in the seed alone it is the same, and takes a while to count.
class Costs {
 public:
  std::optional<Bounds> of(const SweepCell& cell) {
    const auto [place, fresh] = known_.try_emplace(cell.group);
    if (fresh) place->second = recipe_gbitops(cell.recipe);
    return place->second;
  }

 private:
  std::map<std::string, std::optional<Bounds>> known_;
};

std::string cost_text(const std::optional<Bounds>& cost) {
  if (!cost) return "-";
  if (cost->least == cost->most) return amount_text(cost->least);
  return amount_text(cost->least) + " to " + amount_text(cost->most);
}

std::string state_text(const PlannedCell& planned) {
  if (!planned.changes.empty()) return "changed: " + planned.changes.front();
  switch (planned.run.state) {
    case SummaryState::finished:
      return "finished";
    case SummaryState::unreadable:
      return fs::exists(planned.run.run) ? planned.run.trouble : "new";
    default:
      return steps_text(planned.run.step, planned.run.total);
  }
}

std::string length_text(const Recipe& recipe) {
  return recipe.steps > 0 ? std::to_string(recipe.steps)
                          : fmt::format("{:g} epochs", recipe.epochs);
}

}  // namespace

SweepPlan plan_sweep(const fs::path& file, const fs::path& directory, const SweepOptions& options) {
  SweepPlan plan{.sweep = file.stem().string(), .directory = directory};
  SweepOptions known = options;
  known.find_recipe = find_shipped_recipe;
  const std::vector<SweepCell> chosen = read_sweep(file, known);
  refuse_run(directory);
  for (const SweepCell& cell : chosen) plan.cells.push_back(planned_cell(directory, cell));
  // Settings are for the chosen cells: others may not even have such keys.
  const std::vector<SweepCell> all =
      options.only.empty() ? chosen
                           : read_sweep(file, {.recipes = SweepOptions::Recipes::unread,
                                               .find_recipe = find_shipped_recipe});
  const SweepRecord before = is_sweep(directory) ? read_sweep_record(directory) : SweepRecord{};
  plan.vanished = vanished_cells(directory, before, all);
  plan.record = record_of(plan, before, all);
  return plan;
}

void refuse_changes(const SweepPlan& plan) {
  std::string list;
  for (const PlannedCell& planned : plan.cells) {
    for (const std::string& change : planned.changes) {
      list += fmt::format("\n    {}: {}", planned.cell.name, change);
    }
  }
  if (list.empty()) return;
  throw Error(ErrorCode::usage,
              fmt::format("cells in \"{}\" were begun with other recipes:{}",
                          plan.directory.string(), list),
              "Keep them and sweep into another --run-dir, or train them anew: --redo-changed.");
}

void forget_changed(SweepPlan& plan) {
  for (PlannedCell& planned : plan.cells) {
    if (planned.changes.empty()) continue;
    fs::remove_all(plan.directory / planned.cell.name);
    planned = planned_cell(plan.directory, planned.cell);
  }
}

std::string plan_text(const SweepPlan& plan) {
  Costs costs;
  Table table({"cell", "precision", "steps", "GBitOPs", "state"});
  for (const PlannedCell& planned : plan.cells) {
    const Recipe& recipe = planned.cell.recipe;
    table.add_row({planned.cell.name, precision_text(recipe.precision), length_text(recipe),
                   cost_text(costs.of(planned.cell)), state_text(planned)});
  }
  return table.text();
}

Json plan_json(const SweepPlan& plan) {
  Costs costs;
  Json cells = Json::array();
  for (const PlannedCell& planned : plan.cells) {
    const std::optional<Bounds> cost = costs.of(planned.cell);
    cells.push_back({{"cell", planned.cell.name},
                     {"group", planned.cell.group},
                     {"baseline", planned.cell.baseline},
                     {"seed", planned.cell.recipe.seed},
                     {"precision", precision_text(planned.cell.recipe.precision)},
                     {"gbitops_least", cost ? Json(cost->least) : Json()},
                     {"gbitops_most", cost ? Json(cost->most) : Json()},
                     {"finished", planned.run.state == SummaryState::finished},
                     {"step", planned.run.step},
                     {"changes", planned.changes}});
  }
  return {{"sweep", plan.sweep}, {"directory", plan.directory.string()}, {"cells", cells}};
}

}  // namespace bitcycle::cli
