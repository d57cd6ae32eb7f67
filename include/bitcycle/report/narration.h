#pragma once

// What a program tells while it works, on stderr. Nobody may be listening: the stream may be closed
// or full, or its reader gone. What cannot be told is dropped, and the work goes on.

#include <cstdio>
#include <string_view>

namespace bitcycle {

void narrate(std::string_view text, std::FILE* stream = stderr);

}  // namespace bitcycle
