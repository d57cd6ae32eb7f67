#pragma once

// What no single value of a recipe shows: names that must exist, and values that contradict each
// other.

#include "bitcycle/config/recipe.h"

#include "config/reader.h"

namespace bitcycle {

// Throws Error(recipe) at the place of the value that is wrong.
void check_recipe(const Recipe& recipe, const Places& places);

}  // namespace bitcycle
