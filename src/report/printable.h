#pragma once

// Text for a terminal. Names of files may contain anything, also what moves its cursor or colours
// its text; and lines have an end.

#include <cstddef>
#include <string>
#include <string_view>

namespace bitcycle {

// The text with control characters, but for line breaks, written as \xNN.
std::string printable(std::string_view text);

// The same with line breaks too, for what must stay on its line.
std::string printable_line(std::string_view text);

// The text in lines of 80 columns at most, broken at spaces, as far as its words allow; those after
// the first are indented.
std::string wrapped(const std::string& text, std::size_t indent = 0);

}  // namespace bitcycle
