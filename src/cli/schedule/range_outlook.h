#pragma once

// What can be said of a range test before a run: what each bound would cost, and how long the test
// takes.

#include "bitcycle/config/recipe.h"

#include <string>

namespace bitcycle::cli {

// The recipe has precision.forward = "auto".
std::string range_outlook_text(const Recipe& recipe, const std::string& title);
std::string range_outlook_json(const Recipe& recipe);

}  // namespace bitcycle::cli
