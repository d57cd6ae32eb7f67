#include "cli/range/range_subject.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/range_plans.h"
#include "bitcycle/config/scheme_traits.h"

#include "cli/recipe_files.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle::cli {
namespace {

[[noreturn]] void refuse(const std::string& expected, const std::string& found,
                         const std::string& hint) {
  throw Error(ErrorCode::usage, fmt::format("range-test: expected {}, found {}", expected, found),
              hint);
}

void require_schedules(const PrecisionRecipe& precision) {
  if (!precision.progressive && !precision.dynamic) return;
  refuse("a recipe whose bits follow a schedule",
         precision.progressive ? "[precision.progressive], whose bits follow the loss"
                               : "[precision.dynamic], whose bits gates choose",
         "Test a recipe with precision.forward, of the same network and data.");
}

// Bits that are found are those of whatever follows precision.forward.
void require_quantized(const PrecisionRecipe& precision) {
  if (precision.weight && precision.activation) {
    refuse("weights or activations that follow precision.forward",
           "precision.weight and precision.activation, so that nothing takes the widths",
           "Leave out one of them.");
  }
  const bool own = precision.weight || precision.activation;
  if (own || is_automatic(precision) || !is_float(precision.forward)) return;
  refuse("a recipe with quantized layers", "precision.forward = \"fp\"",
         "Give it bits, for instance --set precision.forward=8 --set precision.backward=8.");
}

RangeTestRecipe test_of(const PrecisionRecipe& precision) {
  RangeTestRecipe test = precision.range_test.value_or(RangeTestRecipe());
  RangeTestRecipe cyclic = test;
  cyclic.schedule = precision.forward.name;
  if (is_automatic(precision) || complaint_of(cyclic)) return test;
  cyclic.cycles = precision.forward.cycles;
  return cyclic;
}

void require_widths(const RangeTestRecipe& test, SchemeName scheme) {
  if (const auto complaint = complaint_of(test)) {
    throw Error(ErrorCode::usage, "range-test --" + complaint->key + ": " + complaint->what,
                complaint->hint);
  }
  const int least = traits_of(scheme).min_bits;
  if (test.from >= least) return;
  refuse(fmt::format("at least {} bits with precision.scheme \"{}\"", least, name(scheme)),
         fmt::format("--from {}", test.from), fmt::format("Add --from {}.", least));
}

}  // namespace

Recipe range_test_recipe(const RangeTestCommand& command) {
  Recipe recipe = read_recipe(require_recipe(command.recipe), command.settings);
  PrecisionRecipe& precision = recipe.precision;
  require_schedules(precision);
  require_quantized(precision);
  RangeTestRecipe test = test_of(precision);
  test.from = command.from.value_or(test.from);
  test.to = command.to.value_or(test.to);
  if (command.upper) test.upper = command.upper;
  require_widths(test, precision.scheme);
  precision.forward = {.name = std::string(kAutomaticForward)};
  precision.range_test = test;
  if (recipe.steps > 0) command_options(recipe, recipe.steps);
  return recipe;
}

RangeTestOptions command_options(const Recipe& recipe, Step steps) {
  RangeTestOptions options = range_test_options(*recipe.precision.range_test, steps);
  options.limit = steps;
  const Step least = RangeTest::least_steps(options);
  if (steps >= least) return options;
  refuse(fmt::format("a run of at least {} steps, which the shortest test takes", least),
         fmt::format("{}", steps),
         fmt::format("Take a longer one: --set steps={} or more.", least));
}

}  // namespace bitcycle::cli
