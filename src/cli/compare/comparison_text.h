#pragma once

// A comparison for people and for programs.

#include "cli/compare/comparison.h"

#include <string>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

// Of runs of different networks or datasets, keys that only some of them have are many and follow
// from others: they are counted, or listed too.
enum class KeyList { brief, all };

// A table with a row for each run; where groups have several runs, for each group. Then what could
// not be shown in it, the keys in which they differ, and what the columns mean.
std::string comparison_text(const Comparison& comparison, KeyList keys = KeyList::brief);

nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace bitcycle::cli
