#include "report/view/comparison.h"

#include "bitcycle/base/statistics.h"
#include "bitcycle/cost/run_cost.h"

#include "report/view/group_labels.h"
#include "report/view/point_series.h"
#include "report/view/run_record.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> values_of(const std::vector<SeededValue>& scores) {
  std::vector<double> values;
  for (const SeededValue& score : scores) values.push_back(score.value);
  return values;
}

// What runs of one group have in common. A run without a recipe is a group of its own.
std::string identity(const Json& views, std::size_t run) {
  const Json sweep = views[run].value("sweep", Json());
  const std::string cell = text_in(sweep, "name") + "/" + text_in(sweep, "group");
  const std::string computed = text_in(views[run], "group");
  return cell + " " + (computed.empty() ? fmt::format("#{}", run) : computed);
}

// The finished ones; where none is, all as far as they are.
std::vector<std::size_t> counted_of(const Json& views, const std::vector<std::size_t>& runs) {
  std::vector<std::size_t> finished;
  for (const std::size_t run : runs) {
    if (text_in(views[run]["overview"], "state") == "finished") finished.push_back(run);
  }
  return finished.empty() ? runs : finished;
}

// The test score of a finished run, else the best so far.
std::optional<double> score_of(const Json& view) {
  const Json& overview = view["overview"];
  for (const char* which : {"test", "best"}) {
    if (auto value = number_in(overview.value(which, Json()), "value")) return value;
  }
  return std::nullopt;
}

// In the order in which their first runs come.
std::vector<RunsOfGroup> groups_of(const Json& views) {
  std::vector<RunsOfGroup> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto [found, added] = known.emplace(identity(views, i), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].runs.push_back(i);
  }
  for (RunsOfGroup& group : groups) {
    group.counted = counted_of(views, group.runs);
    for (const std::size_t run : group.counted) {
      const auto seed = number_in(views[run]["overview"], "seed").value_or(0);
      const auto score = score_of(views[run]);
      if (score) group.scores.push_back({static_cast<std::int64_t>(seed), *score});
    }
  }
  return groups;
}

// The group that a sweep holds this one against, if it is shown too.
std::optional<std::size_t> baseline_of(const Json& views, const std::vector<RunsOfGroup>& groups,
                                       const std::vector<std::string>& labels, std::size_t group) {
  const Json& view = views[groups[group].runs.front()];
  const std::string label = baseline_label(views, view);
  const auto found = std::ranges::find(labels, label);
  if (label.empty() || found == labels.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - labels.begin());
  return index == group ? std::nullopt : std::optional(index);
}

// Half a run has cost half, and its score is of the validation set.
bool has_finished(const Json& views, const RunsOfGroup& group) {
  return text_in(views[group.counted.front()]["overview"], "state") == "finished";
}

// Scores mean the same when they are of one metric on one test set.
bool comparable(const Json& views, const RunsOfGroup& a, const RunsOfGroup& b) {
  const Json &one = views[a.runs.front()]["overview"], &other = views[b.runs.front()]["overview"];
  return one.value("metric", Json()) == other.value("metric", Json()) &&
         text_in(one, "dataset") == text_in(other, "dataset");
}

Json optional_json(const std::optional<double>& value) {
  return value ? rounded(*value) : Json();
}

// The mean of an overview's number over the runs that have it.
Json mean_of(const Json& views, const RunsOfGroup& group, const std::string& name) {
  std::vector<double> values;
  for (const std::size_t run : group.counted) {
    if (auto value = number_in(views[run]["overview"], name)) values.push_back(*value);
  }
  return values.empty() ? Json() : rounded(mean(values));
}

void add_spread(Json& json, const std::vector<double>& scores) {
  if (scores.empty()) return;
  const Spread spread = bitcycle::spread(scores);
  const Quartiles box = quartiles(scores);
  json["mean"] = rounded(spread.mean);
  json["deviation"] = optional_json(spread.deviation);
  json["error"] = optional_json(spread.error);
  json["box"] = {rounded(box.least), rounded(box.lower), rounded(box.median), rounded(box.upper),
                 rounded(box.most)};
}

Json group_json(const Json& views, const RunsOfGroup& group, const std::string& label) {
  Json seeds = Json::array(), scores = Json::array();
  for (const std::size_t run : group.runs)
    seeds.push_back(views[run]["overview"].value("seed", Json()));
  for (const SeededValue& score : group.scores) scores.push_back(rounded(score.value));
  Json json = {{"label", label},
               {"runs", group.runs},
               {"counted", group.counted.size()},
               {"finished", has_finished(views, group)},
               {"seeds", seeds},
               {"scores", scores}};
  add_spread(json, values_of(group.scores));
  for (const char* name : {"gbitops", "saving_percent", "saving_float_percent", "seconds"}) {
    json[name] = mean_of(views, group, name);
  }
  return json;
}

void hold_against(const Json& views, const RunsOfGroup& group, const RunsOfGroup& baseline,
                  const Json& baseline_json, Json& json) {
  const auto cost = number_in(json, "gbitops"), other = number_in(baseline_json, "gbitops");
  if (cost && other && *other > 0)
    json["saving_baseline_percent"] = rounded(saving_percent(*cost, *other));
  if (group.scores.empty() || baseline.scores.empty()) return;
  if (!comparable(views, group, baseline)) return;
  const Difference difference = seeded_difference(group.scores, baseline.scores);
  json["difference"] = {
      {"value", rounded(difference.value)},
      {"error", optional_json(difference.error)},
      {"pairing", difference.pairing == Pairing::same_seed ? "same seeds" : "Welch"}};
}

// Null where a run does not say.
Json metric_of(const Json& views, std::size_t run) {
  return views[run]["overview"].value("metric", Json());
}

// That of most runs, of several such the first; null where no two runs have the same. Scores of
// other metrics have no axis in common with it.
Json shared_metric(const Json& views) {
  Json shared;
  std::size_t most = 1;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Json metric = metric_of(views, i);
    if (metric.is_null()) continue;
    const auto runs = static_cast<std::size_t>(std::ranges::count_if(views, [&](const Json& view) {
      return view["overview"].value("metric", Json()) == metric;
    }));
    if (runs <= most) continue;
    most = runs;
    shared = metric;
  }
  return shared;
}

// The runs whose scores are of another metric than the shared one.
Json runs_apart(const Json& views, const Json& shared) {
  Json apart = Json::array();
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Json metric = metric_of(views, i);
    if (!metric.is_null() && metric != shared) apart.push_back(i);
  }
  return apart;
}

struct FrontPoint {
  double score, cost;
};

std::optional<FrontPoint> front_point(const Json& group) {
  const auto score = number_in(group, "mean"), cost = number_in(group, "gbitops");
  if (group["finished"] == false || !score || !cost) return std::nullopt;
  return FrontPoint{*score, *cost};
}

// Of the groups with the shared metric.
std::vector<std::optional<FrontPoint>> front_points(const Json& views, const Json& groups,
                                                    const Json& shared) {
  std::vector<std::optional<FrontPoint>> points;
  for (const Json& group : groups) {
    const bool shares = !shared.is_null() && metric_of(views, group["runs"][0]) == shared;
    points.push_back(shares ? front_point(group) : std::nullopt);
  }
  return points;
}

// No other finished group is at least as good at no more cost, and better in one of both.
bool is_on_front(const std::vector<std::optional<FrontPoint>>& points,
                 const std::optional<FrontPoint>& point, bool higher) {
  if (!point) return false;
  return std::ranges::none_of(points, [&](const std::optional<FrontPoint>& other) {
    if (!other) return false;
    const double gain = higher ? other->score - point->score : point->score - other->score;
    return gain >= 0 && other->cost <= point->cost && (gain > 0 || other->cost < point->cost);
  });
}

}  // namespace

Json comparison(const Json& views) {
  if (views.size() < 2) return nullptr;
  const std::vector<RunsOfGroup> groups = groups_of(views);
  const std::vector<std::string> labels = labels_of(views, groups);
  Json list = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    list.push_back(group_json(views, groups[i], labels[i]));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto baseline = baseline_of(views, groups, labels, i);
    if (!baseline || !has_finished(views, groups[i]) || !has_finished(views, groups[*baseline])) {
      continue;
    }
    list[i]["baseline"] = *baseline;
    hold_against(views, groups[i], groups[*baseline], list[*baseline], list[i]);
  }
  const Json metric = shared_metric(views);
  const auto points = front_points(views, list, metric);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i]["front"] = is_on_front(points, points[i], text_in(metric, "better") == "higher");
  }
  return {{"metric", metric}, {"apart", runs_apart(views, metric)}, {"groups", list}};
}

}  // namespace bitcycle
