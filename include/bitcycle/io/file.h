#pragma once

// Whole files, read at once and written atomically: to a temporary name in the same directory,
// synced, then renamed, so that a reader or a crash sees the old file or the new one, never a part.

#include "bitcycle/base/error.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace bitcycle {

// Throws Error(code) naming the file and the system's reason; Error(memory) when it is too large.
std::vector<std::byte> read_file(const std::filesystem::path& path, ErrorCode code = ErrorCode::io);

// The same of recipes and of what runs have written, whatever stands in their place by now: a pipe,
// which would be waited for, and a device, which need not end, are errors too.
std::vector<std::byte> read_regular_file(const std::filesystem::path& path,
                                         ErrorCode code = ErrorCode::io);

// Throws Error(io); on failure the temporary file is removed and the old content stands.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Removes the temporary files that a process killed within write_file left in a directory. Only for
// directories in which nobody else is writing. Throws Error(io).
void remove_temporaries(const std::filesystem::path& directory);

}  // namespace bitcycle
