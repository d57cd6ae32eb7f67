#pragma once

// A CIFAR-10 archive in small, with the official layout, for tests of downloading.

#include "data/support.h"

#include <string>
#include <utility>
#include <vector>

namespace bitcycle::test {

struct ArchiveEntry {
  std::string path;
  Bytes content;
  std::string link_to = "";  // not empty: a symbolic link
};

Bytes make_archive(const std::vector<ArchiveEntry>& entries);

// The six files with `records` records each, and a text file.
std::vector<ArchiveEntry> small_cifar10(int records);

}  // namespace bitcycle::test
