#pragma once

// Which runs are one thing tried several times: tables and pages give their mean and spread.

#include "bitcycle/config/recipe.h"

#include <string>

namespace bitcycle {

// The same for two runs exactly when they compute the same but for their seeds. Data of one's own,
// which have no name, go by their place.
std::string run_group(Recipe recipe);

}  // namespace bitcycle
