#include "bitcycle/data/class_names.h"

#include "bitcycle/data/locate.h"
#include "bitcycle/io/file.h"

#include "data/data_directory.h"
#include "data/pictures/image_folder.h"

#include <algorithm>
#include <sstream>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

enum class EmptyLines { keep, drop };

std::vector<std::string> lines_of(const fs::path& file, EmptyLines empty) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return {};
  const std::vector<std::byte> bytes = read_file(file, ErrorCode::data);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() || empty == EmptyLines::keep) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> folder_names(const fs::path& root) {
  try {
    return picture_classes(root);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    return {};
  }
}

// A directory with sums of its own holds somebody's own pictures in the same format.
std::vector<std::string> fashion_names(const fs::path& directory) {
  if (fs::exists(directory / kChecksumFile)) return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
}

}  // namespace

std::string class_names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::string name : names) {
    std::ranges::replace(name, '\n', ' ');
    text += name + "\n";
  }
  return text;
}

std::vector<std::string> stored_class_names(const fs::path& run_directory) {
  return lines_of(run_directory / kClassNamesFile, EmptyLines::keep);
}

std::vector<std::string> class_names(const std::string& dataset, const fs::path& root) {
  if (dataset == "image_folder") return folder_names(root);
  if (dataset == "synthetic") return {};
  const fs::path directory = find_dataset(dataset, root).directory;
  if (directory.empty()) return {};
  if (dataset == "fashion_mnist") return fashion_names(directory);
  // CIFAR-10's file ends in an empty line.
  return lines_of(directory / (dataset == "cifar10" ? "batches.meta.txt" : "fine_label_names.txt"),
                  EmptyLines::drop);
}

}  // namespace bitcycle
