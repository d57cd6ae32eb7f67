// The sweeps in recipes/cpt hold what the paper's tables hold: for every printed figure the
// network, data, scheme, bits and setting that it stands for, and nothing else.

#include "bitcycle/config/backend.h"
#include "bitcycle/config/sweep.h"
#include "bitcycle/report/precision_text.h"

#include "golden/csv.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const std::filesystem::path kTables = std::filesystem::path(BITCYCLE_SOURCE_DIR) / "recipes/cpt";

struct Setting {
  std::string network, scheme, forward, backward;
  double rate = 0, start = 0;  // of the first stage; of the first cycle
};

std::string line(const Setting& setting, const std::string& metric, double value, double gbitops) {
  return fmt::format("{} {} {} / {} rate {} start {}: {} {} at {}", setting.network, setting.scheme,
                     setting.forward, setting.backward, setting.rate, setting.start, metric, value,
                     gbitops);
}

std::string scheme_named(const std::string& method) {
  if (method.find("dorefa") != std::string::npos) return "dorefa";
  return method.find("wageubn") != std::string::npos ? "wageubn-lite" : "sbm";
}

// "8", "3-8" or nothing, as the paper has it, in our words.
std::string bits(const std::string& stated, const std::string& pattern) {
  if (stated == "-" || stated == "fp") return "fp";
  return (stated.find('-') == std::string::npos ? "static" : pattern) + " " + stated;
}

double last_number(const std::string& text) {
  return std::stod(text.substr(text.rfind(' ') + 1));
}

Setting printed_setting(const CsvRow& row) {
  const std::string setting = row.at("setting");
  const bool first_stage = setting.starts_with("first-stage"), late = setting.starts_with("start");
  std::string pattern = setting == "-" || late || first_stage ? "cosine" : setting;
  if (pattern == "cosine anneal") pattern = "anneal";
  std::string forward = bits(row.at("forward"), pattern);
  if (first_stage && forward != "fp") forward += " until 0.5, static fp";
  return {row.at("model") + " " + row.at("dataset"),
          scheme_named(row.at("method")),
          forward,
          bits(row.at("backward"), "cosine"),
          first_stage ? last_number(setting) : 0,
          late ? last_number(setting) / 160 : 0};
}

std::vector<std::string> printed(int table) {
  std::vector<std::string> lines;
  for (const CsvRow& row : golden_rows("papers/cpt_tables.csv")) {
    if (row.at("table") != std::to_string(table)) continue;
    const double gbitops = row.at("gbitops") == "-" ? 0 : number(row, "gbitops");
    lines.push_back(line(printed_setting(row), row.at("metric"), number(row, "value"), gbitops));
  }
  return lines;
}

Setting our_setting(const Recipe& recipe, int table) {
  const PrecisionRecipe& precision = recipe.precision;
  const bool folder = recipe.data.dataset == "image_folder";
  return {recipe.model.name + " " + (folder ? "imagenet" : recipe.data.dataset),
          name(precision.scheme),
          schedule_text(precision.forward),
          schedule_text(precision.backward),
          table == 1 ? recipe.optimizer.lr : 0,
          precision.forward.start};
}

std::vector<std::string> ours(int table) {
  std::vector<std::string> lines;
  for (const SweepCell& cell : read_sweep(kTables / fmt::format("table{}.toml", table))) {
    const Setting setting = our_setting(cell.recipe, table);
    const auto gbitops = cell.paper.find("gbitops");
    for (const auto& [metric, value] : cell.paper) {
      if (metric == "gbitops") continue;
      lines.push_back(
          line(setting, metric, value, gbitops == cell.paper.end() ? 0 : gbitops->second));
    }
  }
  return lines;
}

class PaperTablesTest : public testing::TestWithParam<int> {};

TEST_P(PaperTablesTest, EveryPrintedFigureStandsBesideItsSetting) {
  EXPECT_THAT(ours(GetParam()), testing::UnorderedElementsAreArray(printed(GetParam())));
}

// Table 4 prints differences to float alone.
INSTANTIATE_TEST_SUITE_P(Cpt, PaperTablesTest, testing::Values(1, 2, 3, 5, 6, 7, 8));

// A row is compared with another of its own network and data, or with none.
TEST(PaperBaselinesTest, AreOfTheSameNetworkAndData) {
  for (const std::string file :
       {"table1", "table2", "table3", "table4", "table5", "table6", "table7", "table8", "figure1",
        "figure5", "figure7", "figure8", "figure9"}) {
    const std::vector<SweepCell> cells = read_sweep(kTables / (file + ".toml"));
    for (const SweepCell& cell : cells) {
      const auto baseline = std::ranges::find(cells, cell.baseline, &SweepCell::group);
      ASSERT_NE(baseline, cells.end()) << file << ": " << cell.name;
      EXPECT_EQ(baseline->recipe.model.name, cell.recipe.model.name) << file << ": " << cell.name;
      EXPECT_EQ(baseline->recipe.data.dataset, cell.recipe.data.dataset)
          << file << ": " << cell.name;
    }
  }
}

}  // namespace
}  // namespace bitcycle
