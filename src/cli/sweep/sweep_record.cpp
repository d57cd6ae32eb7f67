#include "cli/sweep/sweep_record.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "base/json_text.h"
#include "cli/compare/comparison_text.h"
#include "io/is_there.h"

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRecord = "sweep.json";
constexpr const char* kTable = "table.txt";

Json to_json(const CellRecord& cell) {
  Json json = {{"cell", cell.name}, {"group", cell.group}, {"baseline", cell.baseline}};
  if (!cell.failure.empty()) json["failure"] = cell.failure;
  return json;
}

CellRecord cell_of(const Json& json) {
  return {json.at("cell"), json.at("group"), json.at("baseline"), json.value("failure", "")};
}

// A cell that failed has an unfinished run, or none.
RunSummary run_of(const fs::path& directory, const CellRecord& cell) {
  RunSummary run = look_at_run(directory / cell.name);
  if (!fs::exists(run.run)) run.trouble = "not begun yet";
  if (cell.failure.empty() || run.state != SummaryState::unfinished) return run;
  run.state = SummaryState::failed;
  run.trouble = cell.failure;
  return run;
}

}  // namespace

bool is_sweep(const fs::path& directory) {
  return is_there(directory / kRecord);
}

SweepRecord read_sweep_record(const fs::path& directory) {
  const auto bytes = read_regular_file(directory / kRecord);
  try {
    const Json json = Json::parse(reinterpret_cast<const char*>(bytes.data()),
                                  reinterpret_cast<const char*>(bytes.data()) + bytes.size());
    SweepRecord record{json.at("sweep"), {}};
    for (const Json& cell : json.at("cells")) record.cells.push_back(cell_of(cell));
    return record;
  } catch (const Json::exception&) {
    throw Error(ErrorCode::io,
                (directory / kRecord).string() + ": expected a sweep's cells, in JSON",
                "The file is damaged; remove it, and `bitcycle sweep` writes it again.");
  }
}

void write_sweep_record(const fs::path& directory, const SweepRecord& record) {
  const Comparison comparison = compare_sweep(directory, record);
  Json cells = Json::array();
  for (const CellRecord& cell : record.cells) cells.push_back(to_json(cell));
  Json json = {{"sweep", record.sweep}, {"cells", std::move(cells)}};
  json.update(comparison_json(comparison));
  write_file(directory / kTable, comparison_text(comparison));
  write_file(directory / kRecord, json_text(json, 2) + "\n");
}

std::vector<ComparedRun> sweep_runs(const fs::path& directory, const SweepRecord& record) {
  std::vector<ComparedRun> runs;
  for (const CellRecord& cell : record.cells) {
    runs.push_back({run_of(directory, cell), cell.group, cell.baseline});
  }
  return runs;
}

Comparison compare_sweep(const fs::path& directory, const SweepRecord& record) {
  return compare_runs(sweep_runs(directory, record), record.cells.size() - 1);
}

}  // namespace bitcycle::cli
