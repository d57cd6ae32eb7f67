#include "cli/compare/comparison.h"

#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/run_group.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

bool readable(const RunSummary& run) {
  return run.state != SummaryState::unreadable;
}

bool counts(const RunSummary& run) {
  return run.state == SummaryState::finished && std::isfinite(run.score.value);
}

// What a run computes, but for its seed. A directory that holds no run is alone.
std::string identity(const ComparedRun& compared) {
  const RunSummary& run = compared.run;
  if (!compared.group.empty()) return "group " + compared.group;
  if (!readable(run)) return "directory " + run.run;
  return run_group(run.recipe);
}

// A run that was made again, with the same seed, tells nothing of the spread: it begins another
// group.
std::vector<RunGroup> group_runs(const std::vector<ComparedRun>& runs) {
  std::vector<RunGroup> groups;
  std::map<std::pair<std::string, int>, std::size_t> known;
  std::map<std::pair<std::string, std::uint64_t>, int> copies;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string what = identity(runs[i]);
    const bool cell = !runs[i].group.empty();
    const int copy = cell ? 0 : copies[{what, runs[i].run.recipe.seed}]++;
    const auto [place, fresh] = known.emplace(std::pair(what, copy), groups.size());
    if (fresh) {
      const bool named = !runs[i].group.empty();
      groups.push_back({named ? runs[i].group : runs[i].run.precision, named, {}});
    }
    groups[place->second].runs.push_back(i);
  }
  return groups;
}

// Groups without a name of their own that share a precision are told apart by a run of theirs.
void tell_apart(const std::vector<ComparedRun>& runs, std::vector<RunGroup>& groups) {
  std::map<std::string, int> uses;
  for (const RunGroup& group : groups) ++uses[group.name];
  for (RunGroup& group : groups) {
    if (group.named || uses[group.name] == 1) continue;
    const std::filesystem::path run = runs[group.runs.front()].run.run;
    group.name +=
        fmt::format(" ({})", (run.has_filename() ? run : run.parent_path()).filename().string());
  }
}

std::optional<double> mean_of(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

void add_means(const std::vector<RunSummary>& runs, RunGroup& group) {
  std::vector<double> scores, gbitops, savings, seconds;
  for (const std::size_t i : group.runs) {
    if (runs[i].state != SummaryState::finished) continue;
    if (counts(runs[i])) scores.push_back(runs[i].score.value);
    gbitops.push_back(runs[i].gbitops);
    savings.push_back(runs[i].saving_percent);
    if (runs[i].training_seconds) seconds.push_back(*runs[i].training_seconds);
  }
  if (!scores.empty()) group.score = spread(scores);
  group.gbitops = mean_of(gbitops);
  group.saving_percent = mean_of(savings);
  group.seconds = mean_of(seconds);
}

std::vector<SeededValue> seeded_scores(const std::vector<RunSummary>& runs, const RunGroup& group) {
  std::vector<SeededValue> scores;
  for (const std::size_t i : group.runs) {
    if (!counts(runs[i])) continue;
    scores.push_back({static_cast<std::int64_t>(runs[i].recipe.seed), runs[i].score.value});
  }
  return scores;
}

// Scores mean the same when they are of one metric on one test set.
bool comparable_scores(const RunSummary& a, const RunSummary& b) {
  return a.score.metric.name == b.score.metric.name &&
         data_name(a.recipe.data) == data_name(b.recipe.data);
}

// What sets the work of a step; epochs may end in smaller batches, so how many samples there are
// belongs to it.
constexpr std::string_view kWorkKeys[] = {"data.batch_size", "data.image_size",     "data.limit",
                                          "data.part",       "data.test",           "data.window",
                                          "data.validation", "optimizer.accumulate"};

// What must be the same for costs to be compared: the network, the work of a step, and the length.
std::string counted_work(const RunSummary& run) {
  std::string text = fmt::format("{} steps by {} on {}\n", run.total, name(run.counting),
                                 data_name(run.recipe.data));
  for (const auto& [key, value] : result_keys(run.recipe)) {
    const bool network = key.starts_with("model.") && key != "model.weights";
    if (network || std::ranges::find(kWorkKeys, key) != std::end(kWorkKeys)) {
      text += key + "=" + value + "\n";
    }
  }
  return text;
}

// For times, also what they were measured on.
std::string measured_work(const RunSummary& run) {
  return counted_work(run) + run.machine;
}

bool alike(const std::vector<RunSummary>& runs, const RunGroup& a, const RunGroup& b,
           std::string (*kind)(const RunSummary&)) {
  std::set<std::string> kinds;
  for (const RunGroup* group : {&a, &b}) {
    for (const std::size_t i : group->runs) {
      if (runs[i].state == SummaryState::finished) kinds.insert(kind(runs[i]));
    }
  }
  return kinds.size() == 1;
}

void hold_scores(const RunGroup& baseline, const Comparison& comparison, RunGroup& group) {
  if (!group.score || !baseline.score) return;
  if (!comparable_scores(comparison.first(group), comparison.first(baseline))) return;
  group.difference = seeded_difference(seeded_scores(comparison.runs, group),
                                       seeded_scores(comparison.runs, baseline));
}

void hold_times(const RunGroup& baseline, Comparison& comparison, RunGroup& group) {
  if (!group.seconds || !baseline.seconds) return;
  if (!alike(comparison.runs, group, baseline, measured_work)) {
    comparison.times_withheld = true;
    return;
  }
  group.time_saved_percent = saving_percent(*group.seconds, *baseline.seconds);
}

void hold_costs(const RunGroup& baseline, Comparison& comparison, RunGroup& group) {
  if (!group.gbitops) return;
  if (!baseline.gbitops || !alike(comparison.runs, group, baseline, counted_work)) {
    comparison.costs_withheld = true;
    return;
  }
  group.cost_saved_of_baseline_percent = saving_percent(*group.gbitops, *baseline.gbitops);
}

std::size_t group_of_run(const std::vector<RunGroup>& groups, std::size_t run) {
  const auto holds = [run](const RunGroup& group) {
    return std::ranges::find(group.runs, run) != group.runs.end();
  };
  return static_cast<std::size_t>(std::ranges::find_if(groups, holds) - groups.begin());
}

void add_baselines(const std::vector<ComparedRun>& runs, std::size_t baseline,
                   std::vector<RunGroup>& groups) {
  const std::size_t usual = group_of_run(groups, baseline);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string& stated = runs[groups[i].runs.front()].baseline;
    const auto named = std::ranges::find(groups, stated, &RunGroup::name);
    if (!stated.empty() && named == groups.end()) continue;  // it was left out
    const std::size_t other =
        stated.empty() ? usual : static_cast<std::size_t>(named - groups.begin());
    if (other != i) groups[i].baseline = other;
  }
}

// Schedules as tables write them, the rest as recipes do.
std::map<std::string, std::string> shown_keys(const Recipe& recipe) {
  std::map<std::string, std::string> keys = result_keys(recipe);
  const auto show = [&](const std::string& key, const ScheduleSpec& spec) {
    if (keys.contains(key)) keys[key] = full_schedule_text(spec);
  };
  show("precision.forward", recipe.precision.forward);
  show("precision.backward", recipe.precision.backward);
  if (recipe.precision.weight) show("precision.weight", *recipe.precision.weight);
  if (recipe.precision.activation) show("precision.activation", *recipe.precision.activation);
  keys[recipe.steps > 0 ? "epochs" : "steps"] = "-";  // the other one says how long the run is
  return keys;
}

// Of groups with several seeds the seed is no difference.
std::vector<DifferingKey> differing_keys(const Comparison& comparison) {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    const RunSummary& run = comparison.first(comparison.groups[g]);
    if (!readable(run)) continue;
    groups.push_back(g);
    for (const auto& [key, value] : shown_keys(run.recipe)) {
      values[key].resize(comparison.groups.size(), "-");
      values[key][g] = value;
    }
  }
  if (comparison.seeds) values.erase("seed");
  std::vector<DifferingKey> keys;
  for (auto& [key, all] : values) {
    const auto differs = [&all, &groups](std::size_t g) { return all[g] != all[groups.front()]; };
    if (std::ranges::any_of(groups, differs)) keys.push_back({key, std::move(all)});
  }
  return keys;
}

}  // namespace

std::string data_name(const DataRecipe& data) {
  const bool own = data.dataset == "image_folder" || data.dataset == "text";
  return own ? fmt::format("{} ({})", data.dataset, data.root) : data.dataset;
}

const RunSummary& Comparison::first(const RunGroup& group) const {
  for (const std::size_t i : group.runs) {
    if (readable(runs[i])) return runs[i];
  }
  return runs[group.runs.front()];
}

Comparison compare_runs(std::vector<ComparedRun> runs, std::size_t baseline,
                        CostReference cost_reference) {
  Comparison comparison{.cost_reference = cost_reference};
  comparison.groups = group_runs(runs);
  tell_apart(runs, comparison.groups);
  add_baselines(runs, baseline, comparison.groups);
  for (ComparedRun& compared : runs) comparison.runs.push_back(std::move(compared.run));
  for (RunGroup& group : comparison.groups) {
    add_means(comparison.runs, group);
    comparison.seeds = comparison.seeds || group.runs.size() > 1;
  }
  for (RunGroup& group : comparison.groups) {
    if (!group.baseline) continue;
    const RunGroup& held_against = comparison.groups[*group.baseline];
    hold_scores(held_against, comparison, group);
    hold_times(held_against, comparison, group);
    hold_costs(held_against, comparison, group);
  }
  comparison.keys = differing_keys(comparison);
  return comparison;
}

}  // namespace bitcycle::cli
