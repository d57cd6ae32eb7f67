#pragma once

// One file over HTTP, by libcurl.

#include "data/part_file.h"

#include <cstdint>
#include <functional>
#include <string>

namespace bitcycle {

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Appends to `part` what it lacks of the file at `url`, or starts anew when the server cannot
// resume. Throws Error(network), or Error(io) from writing; what has arrived stays in `part`.
void fetch(const std::string& url, PartFile& part, const Progress& progress);

}  // namespace bitcycle
