#include "cli/predict/asked_pictures.h"

#include "data/pictures/folder_scan.h"

#include <algorithm>
#include <filesystem>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<std::string>& sentences, const std::string& sentence) {
  return std::ranges::find(sentences, sentence) != sentences.end();
}

// `below` begins with a file of the folder.
std::string within(const fs::path& folder, const std::string& below) {
  return (folder / below).string();
}

void add_folder(const fs::path& folder, AskedPictures& asked) {
  const DataDirectory directory(folder, {}, "");
  const FolderScan scan = scan_pictures(directory, {{folder, 0}});
  for (const PictureFile& picture : scan.pictures) {
    asked.files.push_back(within(folder, picture.file));
  }
  for (const std::string& sentence : scan.skipped) {
    if (contains(scan.hidden, sentence)) continue;  // nobody's picture, and not worth a word
    const bool damaged = contains(scan.damaged, sentence);
    (damaged ? asked.damaged : asked.strays).push_back(within(folder, sentence));
  }
  std::ranges::copy(scan.unlisted, std::back_inserter(asked.damaged));
  if (scan.pictures.empty()) asked.damaged.push_back(folder.string() + " has no picture to answer");
}

}  // namespace

AskedPictures asked_pictures(const std::vector<std::string>& arguments) {
  AskedPictures asked;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (fs::is_directory(argument, ignored)) {
      add_folder(argument, asked);
    } else {
      asked.files.push_back(argument);
    }
  }
  return asked;
}

}  // namespace bitcycle::cli
