#pragma once

// One file over HTTP, by libcurl.

#include "data/part_file.h"

#include <cstdint>
#include <functional>
#include <string>

namespace bitcycle {

using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Source {
  std::string url;
  std::uint64_t longest = 0;  // bytes; a server that sends more is not listened to
};

// Appends to `part` what it lacks of the file at the source, or starts anew when that cannot be
// resumed: the server does not know how, or what is there cannot be a part of its file. Throws
// Error(network), or Error(io) from writing; what has arrived stays in `part`.
void fetch(const Source& source, PartFile& part, const Progress& progress);

}  // namespace bitcycle
