#include "cli/sweep/paper_table.h"

#include "bitcycle/config/task_kind.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/table.h"

#include <algorithm>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;
using Figures = std::map<std::string, double>;

std::optional<double> figure(const Figures& figures, const std::string& name) {
  const auto found = figures.find(name);
  return found == figures.end() ? std::nullopt : std::optional(found->second);
}

const Metric& metric_of(const Recipe& recipe) {
  return metrics_of(task_of(recipe.model.name)).primary();
}

struct PaperGroup {
  std::string name, baseline;
  Figures figures;
  Metric metric;
};

std::vector<PaperGroup> paper_groups(const SweepPlan& plan) {
  std::vector<PaperGroup> groups;
  for (const PlannedCell& planned : plan.cells) {
    const SweepCell& cell = planned.cell;
    if (!groups.empty() && groups.back().name == cell.group) continue;
    groups.push_back({cell.group, cell.baseline, cell.paper, metric_of(cell.recipe)});
  }
  return groups;
}

// What a baseline that was left out would have shown is not known here.
const PaperGroup* find_group(const std::vector<PaperGroup>& groups, const std::string& name) {
  const auto found = std::ranges::find(groups, name, &PaperGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

void add_papers(const std::vector<PaperGroup>& groups, const PaperGroup& group, PaperRow& row) {
  row.paper = figure(group.figures, group.metric.name);
  const PaperGroup* baseline = find_group(groups, group.baseline);
  if (baseline == nullptr || baseline->name == group.name) return;
  const auto other = figure(baseline->figures, group.metric.name);
  if (row.paper && other) row.paper_difference = *row.paper - *other;
  const auto cost = figure(group.figures, "gbitops"), full = figure(baseline->figures, "gbitops");
  if (cost && full) row.paper_saving_percent = 100 * (1 - *cost / *full);
}

void add_ours(const Comparison& comparison, const RunGroup& group, PaperRow& row) {
  row.here = group.score;
  if (!group.baseline) return;
  const RunGroup& baseline = comparison.groups[*group.baseline];
  row.difference = group.difference;
  if (group.gbitops && baseline.gbitops && *baseline.gbitops > 0) {
    row.saving_percent = 100 * (1 - *group.gbitops / *baseline.gbitops);
  }
}

template <typename Value, typename Text>
std::string or_dash(const std::optional<Value>& value, const Text& text) {
  return value ? text(*value) : "-";
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

std::vector<PaperRow> paper_rows(const SweepPlan& plan, const Comparison& comparison) {
  const std::vector<PaperGroup> groups = paper_groups(plan);
  std::vector<PaperRow> rows;
  for (const PaperGroup& group : groups) {
    PaperRow row{.group = group.name, .metric = group.metric};
    add_papers(groups, group, row);
    const auto ours = std::ranges::find(comparison.groups, group.name, &RunGroup::name);
    if (ours != comparison.groups.end()) add_ours(comparison, *ours, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string paper_text(const std::vector<PaperRow>& rows) {
  Table table({"cell", "metric", "paper", "here", "against baseline: paper", "here",
               "cost saved: paper", "here"});
  for (const PaperRow& row : rows) {
    const Metric& metric = row.metric;
    const auto difference = [&](double value) {
      return difference_text(metric, Difference{.value = value});
    };
    table.add_row(
        {row.group, metric.name, or_dash(row.paper, [&](double v) { return metric.text(v); }),
         or_dash(row.here, [&](const Spread& s) { return spread_text(metric, s); }),
         or_dash(row.paper_difference, difference),
         or_dash(row.difference, [&](const Difference& d) { return difference_text(metric, d); }),
         or_dash(row.paper_saving_percent, percent_text),
         or_dash(row.saving_percent, percent_text)});
  }
  return table.text();
}

Json paper_json(const std::vector<PaperRow>& rows) {
  Json json = Json::array();
  for (const PaperRow& row : rows) {
    json.push_back({{"cell", row.group},
                    {"metric", row.metric.name},
                    {"paper", or_null(row.paper)},
                    {"here", row.here ? Json(row.here->mean) : Json()},
                    {"here_error", row.here ? or_null(row.here->error) : Json()},
                    {"paper_difference", or_null(row.paper_difference)},
                    {"difference", row.difference ? Json(row.difference->value) : Json()},
                    {"difference_error", row.difference ? or_null(row.difference->error) : Json()},
                    {"paper_saving_percent", or_null(row.paper_saving_percent)},
                    {"saving_percent", or_null(row.saving_percent)}});
  }
  return json;
}

}  // namespace bitcycle::cli
