#pragma once

// What lies in a directory and deeper, links to directories followed. Every real directory is read
// once, whatever leads to it: links can go in circles, and a few of them that lead to each other's
// directories make a number of paths that no walk comes to the end of.

#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

struct DirectoryWalk {
  std::vector<std::filesystem::path> files;   // regular ones and links to them
  std::vector<std::filesystem::path> others;  // neither files nor directories
  // A sentence each, beginning with a path relative to the root: what is read already.
  std::vector<std::string> not_followed;
  std::vector<std::string> unlisted;  // with the whole path: what the system does not list
};

// In no order that can be relied on, but always the same content.
DirectoryWalk walk_directory(const std::filesystem::path& root,
                             const std::filesystem::path& directory);

}  // namespace bitcycle
