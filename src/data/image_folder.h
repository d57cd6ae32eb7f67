#pragma once

// Pictures in a directory tree: root/train/<class>/**.jpg and root/val/<class>/**.jpg. Classes are
// numbered by the sorted names of the directories in train/. An MD5SUMS file in the root, if there
// is one, is checked picture by picture as they are read.

#include "bitcycle/data/dataset.h"

#include <filesystem>
#include <memory>
#include <string>

namespace bitcycle {

// `part` is "train" or "val". Throws Error(data) when there are no classes, a class has no picture,
// or val/ has a class that train/ lacks.
std::shared_ptr<const Dataset> open_image_folder(const std::filesystem::path& root,
                                                 const std::string& part);

}  // namespace bitcycle
