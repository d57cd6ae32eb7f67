#pragma once

// Which pictures the arguments of `bitcycle predict` mean: files as they are named, and of folders
// the pictures in them, deeper ones too, sorted.

#include <string>
#include <vector>

namespace bitcycle::cli {

struct AskedPictures {
  std::vector<std::string> files;
  // A sentence each, beginning with the file: what lies in a folder and is no picture, and what
  // was asked for and cannot be answered.
  std::vector<std::string> strays, damaged;
};

AskedPictures asked_pictures(const std::vector<std::string>& arguments);

}  // namespace bitcycle::cli
