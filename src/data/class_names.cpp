#include "bitcycle/data/class_names.h"

#include "bitcycle/data/locate.h"
#include "bitcycle/io/file.h"

#include "data/data_directory.h"
#include "data/pictures/image_folder.h"

#include <sstream>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// A name a line; CIFAR-10's file ends in an empty one.
std::vector<std::string> lines_of(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  const std::vector<std::byte> bytes = read_file(file, ErrorCode::data);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// A directory with sums of its own holds somebody's own pictures in the same format.
std::vector<std::string> fashion_names(const fs::path& directory) {
  if (fs::exists(directory / kChecksumFile)) return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
}

}  // namespace

std::vector<std::string> class_names(const std::string& dataset, const fs::path& root) {
  std::error_code ignored;
  if (dataset == "image_folder") {
    return fs::is_directory(root, ignored) ? picture_classes(root) : std::vector<std::string>();
  }
  if (dataset == "synthetic") return {};
  const fs::path directory = find_dataset(dataset, root).directory;
  if (directory.empty()) return {};
  if (dataset == "fashion_mnist") return fashion_names(directory);
  return lines_of(directory / (dataset == "cifar10" ? "batches.meta.txt" : "fine_label_names.txt"));
}

}  // namespace bitcycle
