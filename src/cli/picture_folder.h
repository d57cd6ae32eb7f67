#pragma once

// What `bitcycle data --verify` says of a folder of pictures.

#include "bitcycle/data/catalog.h"

#include <string>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

// Of long lists the first lines, or all of them.
enum class Lists { first, all };

// How many pictures each class has in each directory, then the files that are damaged or skipped.
std::string picture_folder_text(const PictureFolderCheck& check, Lists lists);
nlohmann::ordered_json picture_folder_json(const PictureFolderCheck& check);

}  // namespace bitcycle::cli
