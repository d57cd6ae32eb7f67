#pragma once

// Whether anything has this name. `std::filesystem::exists` throws for links that lead in a circle,
// and says no of those that lead nowhere; who goes on to read is told what is wrong with them.

#include <filesystem>

namespace bitcycle {

inline bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

}  // namespace bitcycle
