#pragma once

// Pictures in a directory tree, one directory a class:
//
//   root/train/<class>/**   root/val/<class>/**   root/test/<class>/**
//
// or root/<class>/** alone. Classes are numbered by the sorted names of the directories that are
// trained on. docs/data.md says which directory serves for what, and what is taken from the
// training pictures where one is missing. An MD5SUMS file in the root, if there is one, is checked
// picture by picture as they are read.

#include "bitcycle/base/random.h"
#include "bitcycle/data/dataset.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bitcycle {

// Training refuses a class that has no picture to train on; a check of the folder counts it.
enum class EmptyClasses { refused, counted };

struct ImageFolderOptions {
  std::filesystem::path root;
  double test = 0.1;             // fraction to test on, where there is no directory for it
  RandomKey key = RandomKey(0);  // draws which pictures that takes
  EmptyClasses empty_classes = EmptyClasses::refused;
};

// How many pictures a directory of classes has, by class.
struct PictureCount {
  std::string directory;  // "train", "val" or "test"; "" where the root has the classes itself
  std::vector<std::int64_t> pictures;
};

struct ImageFolder {
  std::vector<std::string> classes;
  std::vector<PictureCount> counts;
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation;  // null: is to be taken from `train`
  std::shared_ptr<const Dataset> test;
  // What was skipped, what is odd, and how the pictures were cut; a line each.
  std::vector<std::string> notices;
  std::vector<std::string> skipped;  // a sentence each, beginning with the file
  std::vector<std::string> damaged;  // of those, pictures that cannot be decoded
  // Whether the validation set is to be balanced over the classes and by file names. Folders with
  // train/ and val/ alone were the first, and keep the cut that their runs remember.
  bool balanced = true;
};

// The names of the classes that a folder is trained on, in their order. Throws Error(data) when it
// has none.
std::vector<std::string> picture_classes(const std::filesystem::path& root);

// Throws Error(data) when there are no classes or only one, a class has no picture to train on,
// val/ or test/ has a class that train/ lacks, or nothing is left to test on.
ImageFolder open_image_folder(const ImageFolderOptions& options);

}  // namespace bitcycle
