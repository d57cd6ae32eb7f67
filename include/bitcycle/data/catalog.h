#pragma once

// Datasets by name: fashion_mnist, cifar10, cifar100, image_folder, synthetic. Opening one finds
// its files, checks them, and cuts the splits. docs/data.md describes layouts and places.

#include "bitcycle/data/dataset.h"
#include "bitcycle/data/part.h"
#include "bitcycle/data/split.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace bitcycle {

// The names that open_dataset knows.
const std::vector<std::string>& dataset_names();

// Made-up pictures, drawn on the fly: every class has its own coarse pattern under noise.
struct SyntheticOptions {
  ImageShape shape = {};
  int classes = 10;
  std::int64_t train_size = 50'000;
  std::int64_t test_size = 10'000;
};

struct DatasetOptions {
  std::string name = "fashion_mnist";
  std::filesystem::path root = {};  // empty: the usual places (search_places)
  Split split = Split::train;
  Part part = {};           // of the training set, before anything is taken from it
  double validation = 0.0;  // fraction of the training set that validation takes from train
  double test = 0.1;  // fraction of an image folder that testing takes, if it has no set for it
  std::int64_t limit = 0;  // at most so many samples of the split, drawn by seed; 0: all
  std::uint64_t seed = 0;  // decides which samples validation and limit take
  SyntheticOptions synthetic = {};
};

// Throws Error(data) when the dataset is missing, damaged, or the split is empty: which file, what
// was expected, how to get it. An unknown name is Error(usage). So a split has at least one sample.
std::shared_ptr<const Dataset> open_dataset(const DatasetOptions& options);

// Both parts of the training set, read once and sharing their memory. `validation` is null when the
// fraction is 0, `test` unless it was read along with them (of an image folder); options.split is
// not looked at.
struct TrainingSets {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> validation;
  std::shared_ptr<const Dataset> test;
  std::vector<std::string> notices;  // what was skipped, and how the sets were cut; a line each
};
TrainingSets open_training_sets(const DatasetOptions& options);

// Reads and decodes every sample of the training and the test set; throws what is wrong first. A
// training set that cannot be cut into training and validation is wrong too.
void check_dataset(const std::string& name, const std::filesystem::path& root);

// What a folder of pictures holds, by directory and class, and the files that are no good.
struct PictureFolderCheck {
  struct Directory {
    std::string name;                    // "train", "val", "test"; "" where there are classes alone
    std::vector<std::int64_t> pictures;  // by class
  };
  std::vector<std::string> classes;
  std::vector<Directory> directories;
  // A sentence each, beginning with the file: pictures that cannot be decoded, and other files,
  // which are only passed over.
  std::vector<std::string> damaged, skipped;

  // Those without a picture in the directory that is trained on, which is the first.
  std::vector<std::string> empty_classes() const;
  bool can_be_trained_on() const;
};

// Decodes every picture. Throws Error(data) for a folder that cannot be trained on at all.
PictureFolderCheck check_picture_folder(const std::filesystem::path& root);

}  // namespace bitcycle
