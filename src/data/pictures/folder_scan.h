#pragma once

// Which files of a directory tree are pictures. Files are known by what is in them, and what cannot
// be trained on is skipped and remembered, so that one stray file does not end a run.

#include "data/data_directory.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bitcycle {

// How closely files are looked at, by what there is, so that opening a folder stays a matter of
// seconds: decoded altogether; by their start, which tells kind and size; by their names.
enum class Look { whole, start, name };
Look look_for(std::size_t files, std::uint64_t bytes);

struct PictureFile {
  std::string file;  // relative to the root
  int label = 0;
};

struct ClassDirectory {
  std::filesystem::path path;
  int label = 0;
};

struct FolderScan {
  std::vector<PictureFile> pictures;  // by class, then by name
  std::vector<std::string> skipped;   // a sentence each, beginning with the file
  std::vector<std::string> damaged;   // of those, pictures that cannot be decoded
  std::vector<std::string> hidden;    // of those, files whose names begin with a dot
  std::vector<std::string> unlisted;  // sentences on directories that the system does not list
  std::int64_t turned = 0;            // pictures with an EXIF orientation, which is not applied
};

// Throws Error(data) when a picture that the root's MD5SUMS lists is another than it says.
FolderScan scan_pictures(const DataDirectory& root, const std::vector<ClassDirectory>& classes);

// Pictures that lie in a directory of classes itself, and so in none: a sentence each.
std::vector<std::string> pictures_beside_classes(const std::filesystem::path& root,
                                                 const std::filesystem::path& directory);

}  // namespace bitcycle
