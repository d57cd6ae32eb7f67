#include "report/view/group_labels.h"

#include "report/view/run_record.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

// What a sweep says of a run, "" without one.
std::string place_of(const Json& view, const char* name) {
  return text_in(view.value("sweep", Json()), name);
}

// The precision, with whatever else tells groups apart.
std::string label_of(const Json& views, const RunsOfGroup& group, bool one_model) {
  const Json& view = views[group.runs.front()];
  const Json& overview = view["overview"];
  const std::string precision = text_in(overview, "precision");
  if (precision.empty()) return text_in(view, "name");
  return one_model
             ? precision
             : precision + ", " + text_in(overview, "model") + ", " + text_in(overview, "dataset");
}

// What the names of its runs have in common: "sweep/cpt" for "sweep/cpt,seed=1" and
// "sweep/cpt,seed=2".
std::string name_of(const Json& views, const RunsOfGroup& group) {
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

// Cells of several sweeps may have the same names.
bool several_sweeps(const Json& views) {
  std::set<std::string> sweeps;
  for (const Json& view : views) sweeps.insert(place_of(view, "name"));
  sweeps.erase("");
  return sweeps.size() > 1;
}

// By the sweep, whose name for it is in `place`; "" without one.
std::string sweep_label(const Json& view, const char* place, bool several) {
  const std::string name = place_of(view, place);
  return name.empty() || !several ? name : place_of(view, "name") + "/" + name;
}

}  // namespace

bool all_same(const Json& views, const char* name) {
  return std::ranges::all_of(views, [&](const Json& view) {
    return view["overview"].value(name, Json()) == views[0]["overview"].value(name, Json());
  });
}

std::string baseline_label(const Json& views, const Json& view) {
  return sweep_label(view, "baseline", several_sweeps(views));
}

std::vector<std::string> labels_of(const Json& views, const std::vector<RunsOfGroup>& groups) {
  const bool one_model = all_same(views, "model") && all_same(views, "dataset");
  const bool several = several_sweeps(views);
  std::map<std::string, int> uses;
  std::vector<std::string> labels;
  for (const RunsOfGroup& group : groups) {
    const std::string named = sweep_label(views[group.runs.front()], "group", several);
    labels.push_back(named.empty() ? label_of(views, group, one_model) : named);
  }
  for (const std::string& label : labels) ++uses[label];
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (uses[labels[i]] > 1) labels[i] += ", " + name_of(views, groups[i]);
  }
  return labels;
}

}  // namespace bitcycle
