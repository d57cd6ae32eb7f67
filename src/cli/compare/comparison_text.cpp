#include "cli/compare/comparison_text.h"

#include "bitcycle/report/format.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/report/table.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bitcycle::cli {
namespace {

using Row = std::vector<std::string>;
using Runs = std::vector<RunSummary>;

// What is the same in all runs that can be read; "" where it is not.
std::string common(const Runs& runs, const std::function<std::string(const RunSummary&)>& of) {
  std::set<std::string> values;
  for (const RunSummary& run : runs) {
    if (run.state != SummaryState::unreadable) values.insert(of(run));
  }
  return values.size() == 1 ? *values.begin() : "";
}

std::string model_of(const RunSummary& run) {
  return run.recipe.model.name;
}
std::string dataset_of(const RunSummary& run) {
  return data_name(run.recipe.data);
}
std::string metric_of(const RunSummary& run) {
  return run.score.metric.name;
}
std::string total_of(const RunSummary& run) {
  return run.total > 0 ? std::to_string(run.total) : "-";
}

// How many steps runs have in all, as far as it is known.
std::set<Step> lengths_of(const Runs& runs) {
  std::set<Step> lengths;
  for (const RunSummary& run : runs) {
    if (run.state != SummaryState::unreadable && run.total > 0) lengths.insert(run.total);
  }
  return lengths;
}

// "cifar_resnet8 on fashion_mnist, 1876 steps": what the columns need not say.
std::string title(const Comparison& comparison) {
  const std::string model = common(comparison.runs, model_of);
  const std::string dataset = common(comparison.runs, dataset_of);
  const std::set<Step> lengths = lengths_of(comparison.runs);
  std::string text = model;
  if (!dataset.empty()) text += model.empty() ? dataset : " on " + dataset;
  if (lengths.size() == 1) {
    text += fmt::format("{}{} steps", text.empty() ? "" : ", ", *lengths.begin());
  }
  return text.empty() ? "" : text + "\n\n";
}

std::string or_dash(const std::optional<double>& value, std::string (*text)(double)) {
  return value ? text(*value) : "-";
}

std::string state_text(const RunSummary& run) {
  switch (run.state) {
    case SummaryState::finished:
      return "finished";
    case SummaryState::unfinished:
      return steps_text(run.step, run.total);
    case SummaryState::failed:
      return "failed at " + steps_text(run.step, run.total);
    case SummaryState::unreadable:
      return "cannot be read";
  }
  return "";
}

// The columns that a table has only where rows differ in them.
struct Columns {
  bool model, dataset, steps, state, one_metric;
  std::string score;
};

Columns columns_of(const Comparison& comparison) {
  const Runs& runs = comparison.runs;
  const std::string metric = common(runs, metric_of);
  return {.model = common(runs, model_of).empty(),
          .dataset = common(runs, dataset_of).empty(),
          .steps = lengths_of(runs).size() > 1,
          .state = std::ranges::any_of(
              runs, [](const RunSummary& run) { return run.state != SummaryState::finished; }),
          .one_metric = !metric.empty(),
          .score = metric.empty() ? "test score" : "test " + metric};
}

// Nothing is known of a run that cannot be read, or has not begun.
void add_subject(const Columns& columns, const RunSummary& run, Row& row) {
  const bool known = run.state != SummaryState::unreadable;
  if (columns.model) row.push_back(known ? model_of(run) : "-");
  if (columns.dataset) row.push_back(known ? dataset_of(run) : "-");
  if (columns.steps) row.push_back(known ? total_of(run) : "-");
}

std::string scored(const Columns& columns, const RunSummary& run, const std::string& text) {
  return columns.one_metric ? text : metric_of(run) + " " + text;
}

Row run_header(const Columns& columns) {
  Row row = {"precision", "backend"};
  if (columns.model) row.emplace_back("model");
  if (columns.dataset) row.emplace_back("dataset");
  if (columns.steps) row.emplace_back("steps");
  row.push_back(columns.score);
  for (const char* name : {"GBitOPs", "cost saved", "training time", "time saved"}) {
    row.emplace_back(name);
  }
  if (columns.state) row.emplace_back("state");
  row.emplace_back("run directory");
  return row;
}

std::string cost_saved_text(const Comparison& comparison, const RunGroup& group,
                            const std::optional<double>& of_static) {
  const bool by_baseline = comparison.cost_reference == CostReference::baseline;
  return or_dash(by_baseline ? group.cost_saved_of_baseline_percent : of_static, percent_text);
}

Row run_row(const Comparison& comparison, const Columns& columns, const RunGroup& group) {
  const RunSummary& run = comparison.first(group);
  const bool readable = run.state != SummaryState::unreadable;
  Row row = readable ? Row{run.precision, run.backend.empty() ? "-" : run.backend} : Row{"-", "-"};
  add_subject(columns, run, row);
  const bool finished = run.state == SummaryState::finished;
  row.push_back(finished ? scored(columns, run, score_text(run.score)) : "-");
  row.push_back(readable ? amount_text(run.gbitops) : "-");
  row.push_back(readable ? cost_saved_text(comparison, group, run.saving_percent) : "-");
  row.push_back(or_dash(run.training_seconds, readable_duration));
  row.push_back(or_dash(group.time_saved_percent, percent_text));
  if (columns.state) row.push_back(state_text(run));
  row.push_back(run.run);
  return row;
}

std::string run_table(const Comparison& comparison) {
  const Columns columns = columns_of(comparison);
  Table table(run_header(columns));
  for (const RunGroup& group : comparison.groups) {
    table.add_row(run_row(comparison, columns, group));
  }
  return table.text();
}

Row group_header(const Columns& columns, bool named) {
  Row row = {named ? "name" : "precision"};
  if (named) row.emplace_back("precision");
  if (columns.model) row.emplace_back("model");
  if (columns.dataset) row.emplace_back("dataset");
  if (columns.steps) row.emplace_back("steps");
  for (const char* name : {"seeds", columns.score.c_str(), "spread", "difference", "GBitOPs",
                           "cost saved", "time", "time saved"}) {
    row.emplace_back(name);
  }
  return row;
}

std::string seeds_text(const Comparison& comparison, const RunGroup& group) {
  const auto finished = std::ranges::count_if(group.runs, [&](std::size_t i) {
    return comparison.runs[i].state == SummaryState::finished;
  });
  if (static_cast<std::size_t>(finished) == group.runs.size()) return std::to_string(finished);
  return fmt::format("{} of {}", finished, group.runs.size());
}

// Welch's are marked, since those of same-seed pairs are the rule.
std::string marked_difference(const Metric& metric, const std::optional<Difference>& difference) {
  if (!difference) return "-";
  const bool welch = difference->pairing == Pairing::welch && difference->error;
  return difference_text(metric, *difference) + (welch ? " W" : "");
}

Row group_row(const Comparison& comparison, const Columns& columns, const RunGroup& group,
              bool named) {
  const RunSummary& run = comparison.first(group);
  const Metric& metric = run.score.metric;
  Row row = {group.name};
  if (named) row.push_back(run.precision.empty() ? "-" : run.precision);
  add_subject(columns, run, row);
  row.push_back(seeds_text(comparison, group));
  row.push_back(group.score ? scored(columns, run, spread_text(metric, *group.score)) : "-");
  const bool spreads = group.score && group.score->deviation;
  row.push_back(spreads ? score_distance(metric, *group.score->deviation) : "-");
  row.push_back(marked_difference(metric, group.difference));
  row.push_back(or_dash(group.gbitops, amount_text));
  row.push_back(cost_saved_text(comparison, group, group.saving_percent));
  row.push_back(or_dash(group.seconds, readable_duration));
  row.push_back(or_dash(group.time_saved_percent, percent_text));
  return row;
}

std::string group_table(const Comparison& comparison) {
  const Columns columns = columns_of(comparison);
  const bool named = std::ranges::any_of(comparison.groups, &RunGroup::named);
  Table table(group_header(columns, named));
  for (const RunGroup& group : comparison.groups) {
    const bool readable = comparison.first(group).state != SummaryState::unreadable;
    if (readable || group.named) table.add_row(group_row(comparison, columns, group, named));
  }
  return table.text();
}

// Runs that a table of groups does not show, and what is wrong with those that it could not.
std::string missing_text(const Comparison& comparison) {
  std::string text;
  for (const RunSummary& run : comparison.runs) {
    const bool told = run.trouble.empty();
    if (run.state == SummaryState::finished || (told && !comparison.seeds)) continue;
    const bool readable = run.state != SummaryState::unreadable;
    text += fmt::format("{}: {}{}{}\n", run.run, readable ? state_text(run) : "",
                        readable && !told ? ": " : "", run.trouble);
  }
  return text.empty() ? "" : text + "\n";
}

std::string name_in_keys(const Comparison& comparison, const RunGroup& group) {
  return comparison.seeds || group.named ? group.name : comparison.first(group).run;
}

// The values of a key in the order of their appearance, each with those that have it.
void add_key(const Comparison& comparison, const DifferingKey& key, Table& table) {
  std::vector<std::pair<std::string, Row>> values;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    if (comparison.first(comparison.groups[g]).state == SummaryState::unreadable) continue;
    auto entry = std::ranges::find(values, key.values[g], &std::pair<std::string, Row>::first);
    if (entry == values.end()) entry = values.insert(entry, {key.values[g], {}});
    entry->second.push_back(name_in_keys(comparison, comparison.groups[g]));
  }
  constexpr std::size_t kWidest = 48;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [value, names] = values[i];
    table.add_row({i == 0 ? key.key : " ",
                   value.size() <= kWidest ? value : value.substr(0, kWidest - 3) + "...",
                   fmt::format("{}", fmt::join(names, ", "))});
  }
}

// A key that some of the runs do not have follows from another that is told: from the model, the
// optimizer, the name of a schedule. How long a run is follows from nothing.
bool follows(const Comparison& comparison, const DifferingKey& key) {
  if (key.key == "steps" || key.key == "epochs") return false;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    const RunSummary& run = comparison.first(comparison.groups[g]);
    if (run.state != SummaryState::unreadable && key.values[g] == "-") return true;
  }
  return false;
}

// Between runs of one network and dataset every key counts.
std::string keys_text(const Comparison& comparison, KeyList list) {
  if (comparison.keys.empty()) return "";
  const Runs& runs = comparison.runs;
  const bool alike = !common(runs, model_of).empty() && !common(runs, dataset_of).empty();
  Table table({"differs in", "value", "of"});
  std::size_t left_out = 0;
  for (const DifferingKey& key : comparison.keys) {
    const bool told = list == KeyList::all || alike || !follows(comparison, key);
    told ? add_key(comparison, key, table) : void(++left_out);
  }
  if (left_out > 0) {
    table.add_row({fmt::format("{} more key{}", left_out, left_out == 1 ? "" : "s"),
                   "not of all models; see --all-keys", " "});
  }
  return table.text() + "\n";
}

std::string baseline_text(const Comparison& comparison) {
  std::set<std::string> names;
  for (const RunGroup& group : comparison.groups) {
    if (group.baseline) {
      names.insert(name_in_keys(comparison, comparison.groups[*group.baseline]));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string errors_note(const Comparison& comparison, const std::string& baseline) {
  if (!comparison.seeds) return "";
  const bool welch = std::ranges::any_of(comparison.groups, [](const RunGroup& group) {
    return group.difference && group.difference->error &&
           group.difference->pairing == Pairing::welch;
  });
  return fmt::format("Spread: standard deviation over seeds; ±: standard error{}.\n",
                     baseline.empty()
                         ? ""
                         : fmt::format(", of the difference from {} over same-seed pairs{}",
                                       baseline, welch ? " (W: Welch's)" : ""));
}

std::string lengths_note(const Comparison& comparison) {
  if (lengths_of(comparison.runs).size() < 2) return "";
  return "The runs are of different lengths: scores, GBitOPs and times are not of the same "
         "training.\n";
}

std::string static_savings_note(const Comparison& comparison, const std::string& baseline,
                                bool timed) {
  const bool gated = std::ranges::any_of(comparison.runs, &RunSummary::gated);
  const std::string text = fmt::format("Cost saved: against static at the same upper bits{}.",
                                       gated ? ", of runs with gates static 8/8" : "");
  if (!timed) return text + "\n";
  return text + fmt::format(
                    " Time saved: measured, against {}.\nAnother baseline: --baseline NAME, for "
                    "costs too.\n",
                    baseline);
}

std::string withheld_note(const Comparison& comparison) {
  std::string text;
  if (comparison.costs_withheld && comparison.cost_reference == CostReference::baseline) {
    text +=
        "Costs are compared between finished runs of one network, batch and length; others are "
        "not.\n";
  }
  if (comparison.times_withheld) {
    text +=
        "Times are compared between runs of one network, batch and length, measured on one "
        "machine\nwith as many threads; others are not.\n";
  }
  return text;
}

// "" where the baseline stands alone.
std::string baseline_savings_note(const std::string& baseline, bool timed) {
  if (baseline.empty()) return "";
  return fmt::format("Cost saved: against {}.{}\n", baseline,
                     timed ? " Time saved: measured, against the same." : "");
}

std::string savings_note(const Comparison& comparison, const std::string& baseline) {
  const bool timed = std::ranges::any_of(comparison.groups, [](const RunGroup& group) {
    return group.time_saved_percent.has_value();
  });
  const bool by_baseline = comparison.cost_reference == CostReference::baseline;
  return (by_baseline ? baseline_savings_note(baseline, timed)
                      : static_savings_note(comparison, baseline, timed)) +
         withheld_note(comparison);
}

}  // namespace

std::string comparison_text(const Comparison& comparison, KeyList keys) {
  const std::string baseline = baseline_text(comparison);
  return title(comparison) + (comparison.seeds ? group_table(comparison) : run_table(comparison)) +
         "\n" + missing_text(comparison) + keys_text(comparison, keys) +
         averaged_text(comparison.runs) + stages_text(comparison.runs) + lengths_note(comparison) +
         counting_note(comparison.runs) + errors_note(comparison, baseline) +
         savings_note(comparison, baseline);
}

}  // namespace bitcycle::cli
