#include "report/view/comparison.h"

#include "bitcycle/base/statistics.h"

#include "report/view/point_series.h"
#include "report/view/run_record.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

struct Group {
  std::vector<std::size_t> runs;
  std::vector<std::size_t> counted;  // whose figures are averaged
  std::vector<double> scores;
};

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

// In the order in which their first runs come. A run without a recipe is a group of its own.
std::vector<Group> groups_of(const Json& views) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::string key = text_in(views[i], "group");
    const auto [found, added] =
        known.emplace(key.empty() ? fmt::format("#{}", i) : key, groups.size());
    if (added) groups.emplace_back();
    groups[found->second].runs.push_back(i);
  }
  for (Group& group : groups) {
    group.counted = counted_of(views, group.runs);
    for (const std::size_t run : group.counted) {
      if (const auto score = score_of(views[run])) group.scores.push_back(*score);
    }
  }
  return groups;
}

// The precision, with whatever else tells groups apart.
std::string label_of(const Json& views, const Group& group, bool one_model) {
  const Json& view = views[group.runs.front()];
  const Json& overview = view["overview"];
  const std::string precision = text_in(overview, "precision");
  if (precision.empty()) return text_in(view, "name");
  return one_model
             ? precision
             : precision + ", " + text_in(overview, "model") + ", " + text_in(overview, "dataset");
}

bool all_same(const Json& views, const char* name) {
  return std::ranges::all_of(views, [&](const Json& view) {
    return view["overview"].value(name, Json()) == views[0]["overview"].value(name, Json());
  });
}

// What the names of its runs have in common: "sweep/cpt" for "sweep/cpt,seed=1" and
// "sweep/cpt,seed=2".
std::string name_of(const Json& views, const Group& group) {
  const std::string first = text_in(views[group.runs.front()], "name");
  std::size_t common = first.size();
  for (const std::size_t run : group.runs) {
    const std::string name = text_in(views[run], "name");
    common = std::min<std::size_t>(common, std::ranges::mismatch(first, name).in1 - first.begin());
  }
  if (common == first.size()) return first;
  std::string name = first.substr(0, common);
  if (name.ends_with("seed=")) name.resize(name.size() - std::string_view("seed=").size());
  name.resize(name.find_last_not_of(",-_/ ") + 1);
  return name.empty() ? first : name;
}

std::vector<std::string> labels_of(const Json& views, const std::vector<Group>& groups) {
  const bool one_model = all_same(views, "model") && all_same(views, "dataset");
  std::map<std::string, int> uses;
  std::vector<std::string> labels;
  for (const Group& group : groups) labels.push_back(label_of(views, group, one_model));
  for (const std::string& label : labels) ++uses[label];
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (uses[labels[i]] > 1) labels[i] += ", " + name_of(views, groups[i]);
  }
  return labels;
}

Json optional_json(const std::optional<double>& value) {
  return value ? rounded(*value) : Json();
}

// The mean of an overview's number over the runs that have it.
Json mean_of(const Json& views, const Group& group, const std::string& name) {
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

Json group_json(const Json& views, const Group& group, const std::string& label) {
  Json seeds = Json::array(), scores = Json::array();
  for (const std::size_t run : group.runs)
    seeds.push_back(views[run]["overview"].value("seed", Json()));
  for (const double score : group.scores) scores.push_back(rounded(score));
  Json json = {{"label", label},
               {"runs", group.runs},
               {"counted", group.counted.size()},
               {"seeds", seeds},
               {"scores", scores}};
  add_spread(json, group.scores);
  for (const char* name : {"gbitops", "saving_percent", "saving_float_percent", "seconds"}) {
    json[name] = mean_of(views, group, name);
  }
  return json;
}

// No other group is at least as good at no more cost, and better in one of both.
bool is_on_front(const Json& groups, const Json& own, bool higher) {
  const auto score = number_in(own, "mean"), cost = number_in(own, "gbitops");
  if (!score || !cost) return false;
  return std::ranges::none_of(groups, [&](const Json& other) {
    const auto other_score = number_in(other, "mean"), other_cost = number_in(other, "gbitops");
    if (!other_score || !other_cost) return false;
    const double gain = higher ? *other_score - *score : *score - *other_score;
    return gain >= 0 && *other_cost <= *cost && (gain > 0 || *other_cost < *cost);
  });
}

}  // namespace

Json comparison(const Json& views) {
  if (views.size() < 2) return nullptr;
  const std::vector<Group> groups = groups_of(views);
  const std::vector<std::string> labels = labels_of(views, groups);
  Json list = Json::array();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    list.push_back(group_json(views, groups[i], labels[i]));
  }
  const bool one_metric = all_same(views, "metric") && views[0]["overview"].contains("metric");
  const Json metric = one_metric ? views[0]["overview"]["metric"] : Json();
  for (Json& group : list) {
    group["front"] = one_metric && is_on_front(list, group, text_in(metric, "better") == "higher");
  }
  return {{"metric", metric}, {"groups", list}};
}

}  // namespace bitcycle
