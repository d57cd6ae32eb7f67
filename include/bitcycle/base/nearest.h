#pragma once

// "Did you mean ...?": the known name closest to what somebody typed.

#include <span>
#include <string>
#include <string_view>

namespace bitcycle {

// The name with the smallest edit distance to `typed` (case ignored), or "" when none is close
// enough to be a likely slip (at most a third of its letters, and at least one, may differ).
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

// "Did you mean "x"?" when a near name exists, else "Known names: a, b, c."
std::string suggest(std::string_view typed, std::span<const std::string> names);

}  // namespace bitcycle
