#pragma once

// What a paper reports beside what was found here, for the cells of a sweep whose variants say what
// the paper has (`paper = { accuracy = 92.57, gbitops = 2.67e8 }`).

#include "cli/sweep/sweep_plan.h"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

struct PaperRow {
  std::string group;
  Metric metric;
  std::optional<double> paper, paper_difference, paper_saving_percent;
  std::optional<Spread> here;
  std::optional<Difference> difference;
  std::optional<double> saving_percent;
};

// A row for each group of the comparison; differences and savings are against its baseline, the
// paper's against the paper's figures of that.
std::vector<PaperRow> paper_rows(const SweepPlan& plan, const Comparison& comparison);

std::string paper_text(const std::vector<PaperRow>& rows);
nlohmann::ordered_json paper_json(const std::vector<PaperRow>& rows);

}  // namespace bitcycle::cli
