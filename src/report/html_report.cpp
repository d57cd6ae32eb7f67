#include "bitcycle/report/html_report.h"

#include "base/json_text.h"
#include "report/page_files.h"
#include "report/view/comparison.h"
#include "report/view/run_view.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

// Inside a script element, "<" could begin "</script>" or "<!--"; in a JSON string it may be
// written so that it cannot.
std::string inside_script(std::string json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<')
      safe += "\\u003c";
    else
      safe += letter;
  }
  return safe;
}

// All places at once: what is put in is never looked at again.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string result;
  while (true) {
    const std::size_t open = text.find("{{");
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    text.remove_prefix(open + 2);
    const std::size_t close = text.find("}}");
    const auto value = std::ranges::find(values, text.substr(0, close),
                                         [](const auto& pair) { return pair.first; });
    if (value != values.end()) result += value->second;
    text.remove_prefix(close + 2);
  }
}

std::string page(const std::string& data) {
  return filled(
      kPageTemplate,
      {{"style", kPageStyle}, {"charts", kChartScript}, {"script", kPageScript}, {"data", data}});
}

}  // namespace

std::string report_data(std::span<const NamedRun> runs) {
  Json views = Json::array();
  for (const NamedRun& run : runs) {
    views.push_back(run_view(run.directory, run.name, options_for(runs.size())));
  }
  Json data = {{"version", 1}, {"runs", Json()}, {"comparison", comparison(views)}};
  data["runs"] = std::move(views);
  return json_text(data);
}

std::string html_report(std::span<const NamedRun> runs) {
  return page(inside_script(report_data(runs)));
}

std::string html_live_page() {
  return page("null");
}

}  // namespace bitcycle
