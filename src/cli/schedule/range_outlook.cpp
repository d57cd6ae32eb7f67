#include "cli/schedule/range_outlook.h"

#include "bitcycle/config/range_plans.h"
#include "bitcycle/report/table.h"
#include "bitcycle/schedule/compose.h"
#include "bitcycle/schedule/summary.h"

#include "base/json_text.h"

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BoundOutlook {
  int lower = 0;
  double mean = 0;  // bits
  double cost = 0;  // against static at the upper bounds
};

// Of a run that follows the schedule from its first step on; a length in epochs stands for the
// papers' cycles of 2,000 steps.
std::vector<BoundOutlook> outlook(const Recipe& recipe) {
  const RangeTestRecipe& test = *recipe.precision.range_test;
  const Step steps = recipe.steps > 0 ? recipe.steps : Step{2000} * test.cycles;
  const Schedule errors = make_schedule(recipe.precision.backward, steps);
  const BitPair reference{test.to, max_bits(recipe.precision.backward)};
  std::vector<BoundOutlook> rows;
  for (int low = test.from; low <= test.to; ++low) {
    const Schedule schedule = make_schedule(schedule_between(test, low, test.to), steps);
    rows.push_back(
        {low, mean_bits(schedule, steps), relative_cost(schedule, errors, steps, reference)});
  }
  return rows;
}

std::string length_text(const Recipe& recipe) {
  const RangeTestOptions options = range_test_options(*recipe.precision.range_test, recipe.steps);
  const std::string least = fmt::format("{} steps or more", RangeTest::least_steps(options));
  return recipe.steps == 0 ? least
                           : fmt::format("{}, at most {}", least, RangeTest::most_steps(options));
}

}  // namespace

std::string range_outlook_text(const Recipe& recipe, const std::string& title) {
  const RangeTestRecipe& test = *recipe.precision.range_test;
  Table table({"bounds", "mean bits", "cost"});
  for (const BoundOutlook& row : outlook(recipe)) {
    table.add_row({fmt::format("{}-{}", row.lower, test.to), fmt::format("{:.3f}", row.mean),
                   fmt::format("{:.4f}", row.cost)});
  }
  return fmt::format(
      "{}: {} cycles whose lower bound a range test finds; which it is, only a run can tell\n\n{}\n"
      "The test goes on within the first of {} cycles, {}, in blocks of {} at\n"
      "{} bits and fewer in turn. Cost is that of the schedule, against static {}.\n",
      title, test.schedule, table.text(), test.cycles, length_text(recipe), test.block, test.to,
      test.to);
}

std::string range_outlook_json(const Recipe& recipe) {
  const RangeTestRecipe& test = *recipe.precision.range_test;
  const RangeTestOptions options = range_test_options(test, recipe.steps);
  Json bounds = Json::array();
  for (const BoundOutlook& row : outlook(recipe)) {
    bounds.push_back(
        {{"lower_bits", row.lower}, {"mean_bits", row.mean}, {"relative_cost", row.cost}});
  }
  const Json most = recipe.steps > 0 ? Json(RangeTest::most_steps(options)) : Json();
  return json_text(Json{{"policy", "range_test"},
                        {"schedule", test.schedule},
                        {"cycles", test.cycles},
                        {"upper_bits", test.to},
                        {"least_steps", RangeTest::least_steps(options)},
                        {"most_steps", most},
                        {"bounds", std::move(bounds)}},
                   2) +
         "\n";
}

}  // namespace bitcycle::cli
