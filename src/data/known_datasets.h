#pragma once

// The published datasets that Bitcycle reads by name: their files, sizes and sums, where they lie
// below a place that is searched, and where they come from. A file of size 0 is one whose size and
// sum are not known here.

#include "data/data_directory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

enum class DatasetKind { pictures, text };

struct KnownDataset {
  std::string name;
  std::vector<std::string> directories;  // below a place; the first is what a download creates
  std::vector<KnownFile> train;
  std::vector<KnownFile> test;
  std::string url;  // of the archive; empty: not downloaded by Bitcycle
  std::uint64_t archive_size = 0;
  std::string archive_md5;
  std::string cure;                        // how to get it
  std::vector<KnownFile> validation = {};  // of text; pictures take it from the training set
  DatasetKind kind = DatasetKind::pictures;

  std::vector<KnownFile> files() const;
};

const std::vector<KnownDataset>& known_datasets();
// Null when the name is not one of them.
const KnownDataset* known_dataset(const std::string& name);

}  // namespace bitcycle
