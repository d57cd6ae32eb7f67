#pragma once

// The field list for people: what docs/recipes.md must say of every key, and which key somebody may
// have meant.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

// Rows of a Markdown table: key, type, default, range, meaning.
std::vector<std::string> recipe_rows();       // keys of the document and its sections, dotted
std::vector<std::string> schedule_rows();     // keys of a schedule's table
std::vector<std::string> range_test_rows();   // keys of [precision.range_test]
std::vector<std::string> progressive_rows();  // keys of [precision.progressive]
std::vector<std::string> dynamic_rows();      // keys of [precision.dynamic]
std::vector<std::string> averaging_rows();    // keys of [averaging]
std::vector<std::string> override_rows();     // keys of [[precision.override]]

// A hint for an unknown key of a table that knows `known`: the nearest of those, else the section
// where a key of that name is at home, else all that the table knows.
std::string suggest_key(const std::string& typed, std::span<const std::string> known);

}  // namespace bitcycle
