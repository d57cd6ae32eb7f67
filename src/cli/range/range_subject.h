#pragma once

// What `bitcycle range-test` tests: a recipe whose forward bits are to be found.

#include "bitcycle/config/range_test.h"
#include "bitcycle/config/recipe.h"

#include "cli/torch_commands.h"

namespace bitcycle::cli {

// The recipe with precision.forward = "auto", and what the command line says of the test. The
// schedule that the bounds are for is the recipe's own where that cycles. Throws Error(usage) where
// there is nothing to be found.
Recipe range_test_recipe(const RangeTestCommand& command);

// Of the test, in a run of so many steps, all of which it may take. Throws Error(usage) where these
// are too few.
RangeTestOptions command_options(const Recipe& recipe, Step steps);

}  // namespace bitcycle::cli
