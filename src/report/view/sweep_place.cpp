#include "report/view/sweep_place.h"

#include "report/view/log_lines.h"
#include "report/view/run_record.h"

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// "runs/sweep/cell/" and "." have a name too.
fs::path named(const fs::path& directory) {
  std::error_code ignored;
  const fs::path whole = fs::absolute(directory, ignored).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

Json sweep_place(const fs::path& run_directory, std::vector<std::string>& notices) {
  const fs::path run = named(run_directory), sweep = run.parent_path();
  const Json record = read_json_file(sweep / "sweep.json", notices);
  if (!record.is_object()) return nullptr;
  const Json cells = record.value("cells", Json::array());
  for (const Json& cell : cells) {
    if (text_in(cell, "cell") != run.filename().string()) continue;
    return {{"name", sweep.filename().string()},
            {"cells", cells.size()},
            {"group", text_in(cell, "group")},
            {"baseline", text_in(cell, "baseline")}};
  }
  return nullptr;
}

}  // namespace bitcycle
