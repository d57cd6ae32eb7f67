#pragma once

// Where datasets lie on this machine. Without an explicit root they are looked for, in this order,
// in $BITCYCLE_DATA, ./data, $XDG_DATA_HOME/bitcycle (~/.local/share/bitcycle) and
// /usr/share/datasets.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// The directories that are searched; `root`, if not empty, stands for all the others.
std::vector<std::filesystem::path> search_places(const std::filesystem::path& root = {});

// Where `bitcycle data get` puts a dataset unless told: the first of search_places that is the
// user's own, whatever the current directory.
std::filesystem::path download_place();

struct FoundDataset {
  std::string name;
  std::filesystem::path directory;   // empty: not found
  std::vector<std::string> missing;  // files that should be in the directory and are not
  std::string cure;                  // how to get it
  bool complete() const { return !directory.empty() && missing.empty(); }
};

// The first place that has the dataset complete, else the first that has a part of it.
FoundDataset find_dataset(const std::string& name, const std::filesystem::path& root = {});

// The directory of a dataset, or of a part of it. Throws Error(data) when there is none: where it
// was looked for, how to get it.
std::filesystem::path require_dataset(const std::string& name,
                                      const std::filesystem::path& root = {});

// Every dataset that has files: the known ones, found or not, and each directory of the places that
// looks like an image_folder.
std::vector<FoundDataset> list_datasets(const std::filesystem::path& root = {});

}  // namespace bitcycle
