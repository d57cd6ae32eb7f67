#pragma once

// The files of a compressed tar archive, by libarchive. Only regular files that lie directly in one
// named directory are handed out, by their bare names, so no entry can reach another place.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bitcycle {

using FileSink = std::function<void(const std::string& name, std::span<const std::byte> content)>;

// Throws Error(data) naming `origin` when the archive is damaged.
void unpack(std::span<const std::byte> archive, const std::string& directory,
            const std::string& origin, const FileSink& sink);

}  // namespace bitcycle
