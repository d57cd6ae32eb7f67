#pragma once

// What `bitcycle range-test` has found, as text and as JSON.

#include "bitcycle/config/learned.h"
#include "bitcycle/config/range_test.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/report/text_plot.h"

#include <string>

namespace bitcycle::cli {

struct RangeOutcome {
  Recipe recipe;  // that was tested, of a known number of steps
  std::string backend;
  RangeTest test;
  Learned learned;
  Learned::Kind kind = Learned::Kind::accuracy;
  double gbitops = 0;        // of the test
  double run_gbitops = 0;    // of the recipe's run between the bounds
  double paper_gbitops = 0;  // likewise, of the paper's 64,000 steps
};

inline constexpr Step kPaperSteps = 64'000;

std::string to_text(const RangeOutcome& outcome, Charset charset);
std::string to_json(const RangeOutcome& outcome);
// That the test costs much beside the run, in words; "" if it does not.
std::string cost_warning(const RangeOutcome& outcome);

}  // namespace bitcycle::cli
