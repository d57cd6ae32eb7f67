#include "cli/watch/live_views.h"

#include "base/json_text.h"
#include "report/view/comparison.h"
#include "report/view/run_view.h"

#include <utility>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

// JSON is one line, which is what an event's data must be.
std::string event(const std::string& name, const Json& data) {
  return "event: " + name + "\ndata: " + json_text(data) + "\n\n";
}

}  // namespace

LiveViews::Version LiveViews::view(const std::string& run, std::size_t runs_shown) {
  const auto directory = folder_.directory(run);
  const std::uint64_t state = directory ? state_of_files(*directory) : 0;
  const std::lock_guard lock(mutex_);
  Version& known = known_[{run, runs_shown}];
  if (known.view && known.state == state) return known;
  // A name of no run leads to no directory, whose view tells that it is not there.
  known = {state, std::make_shared<const Json>(
                      run_view(directory.value_or(""), run, options_for(runs_shown)))};
  return known;
}

std::string LivePage::news() {
  return list_news() + report_news();
}

std::string LivePage::list_news() {
  const Json list = folder_.list();
  const std::string text = json_text(list);
  if (text == std::exchange(told_list_, text)) return "";
  return event("list", list);
}

std::string LivePage::report_news() {
  if (runs_.empty()) return "";
  const bool first = told_.empty();
  told_.resize(runs_.size());
  Json changed = Json::object(), all = Json::array();
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const LiveViews::Version now = views_.view(runs_[i], runs_.size());
    if (first || now.view != told_[i].view) changed[std::to_string(i)] = *now.view;
    told_[i] = now;
  }
  if (changed.empty()) return "";
  for (const LiveViews::Version& version : told_) all.push_back(*version.view);
  return event("report",
               {{"count", runs_.size()}, {"runs", changed}, {"comparison", comparison(all)}});
}

}  // namespace bitcycle::cli
