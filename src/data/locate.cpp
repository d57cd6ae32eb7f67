#include "bitcycle/data/locate.h"

#include "bitcycle/base/error.h"

#include "data/known_datasets.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

fs::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// $XDG_DATA_HOME/bitcycle; empty when there is no home either.
fs::path user_place() {
  if (const fs::path data = environment("XDG_DATA_HOME"); !data.empty()) return data / "bitcycle";
  const fs::path home = environment("HOME");
  return home.empty() ? home : home / ".local/share/bitcycle";
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) text += (text.empty() ? "" : ", ") + path.string();
  return text;
}

std::vector<std::string> missing_files(const KnownDataset& known, const fs::path& directory) {
  std::vector<std::string> missing;
  for (const KnownFile& file : known.files()) {
    if (existing_file(directory, file.name).empty()) missing.push_back(file.name);
  }
  return missing;
}

bool is_named_after(const fs::path& place, const KnownDataset& known) {
  const fs::path& name = place.has_filename() ? place : place.parent_path();
  return std::ranges::find(known.directories, name.filename().string()) != known.directories.end();
}

// WikiText-2 and -103 have files of the same names; their directories tell them apart.
bool is_named_after_another(const fs::path& place, const KnownDataset& known) {
  return std::ranges::any_of(known_datasets(), [&](const KnownDataset& other) {
    return other.name != known.name && is_named_after(place, other);
  });
}

// The place itself, if someone names the dataset's own directory, and the usual names below it.
std::vector<fs::path> candidates(const KnownDataset& known, const fs::path& place) {
  std::vector<fs::path> directories;
  if (!is_named_after_another(place, known)) directories.push_back(place);
  for (const std::string& name : known.directories) directories.push_back(place / name);
  return directories;
}

FoundDataset find_known(const KnownDataset& known, const fs::path& root) {
  FoundDataset best{known.name, {}, {}, known.cure};
  for (const fs::path& place : search_places(root)) {
    for (const fs::path& directory : candidates(known, place)) {
      std::vector<std::string> missing = missing_files(known, directory);
      if (missing.empty()) return {known.name, directory, {}, known.cure};
      const bool a_part = missing.size() < known.files().size();
      if (a_part && best.directory.empty()) {
        best.directory = directory;
        best.missing = std::move(missing);
      }
    }
  }
  return best;
}

std::vector<fs::path> subdirectories(const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const bool hidden = entry.path().filename().string().starts_with('.');
    if (!hidden && entry.is_directory(ignored)) found.push_back(entry.path());
  }
  return found;
}

bool is_image_folder(const fs::path& directory) {
  return !subdirectories(directory / "train").empty();
}

// Who names a directory of class directories means pictures, unless it holds a known dataset.
bool has_classes(const fs::path& directory) {
  const auto known = [&](const fs::path& below) {
    return std::ranges::any_of(known_datasets(), [&](const KnownDataset& dataset) {
      return is_named_after(below, dataset) || is_image_folder(below);
    });
  };
  const std::vector<fs::path> below = subdirectories(directory);
  return below.size() >= 2 && std::ranges::none_of(below, known);
}

std::vector<fs::path> image_folders(const fs::path& place, const fs::path& root) {
  std::error_code ignored;
  std::vector<fs::path> found;
  if (is_image_folder(place) || (!root.empty() && has_classes(place))) found.push_back(place);
  for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
    if (is_image_folder(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<fs::path> search_places(const fs::path& root) {
  if (!root.empty()) return {root};
  std::vector<fs::path> places = {environment("BITCYCLE_DATA"), "data", user_place(),
                                  "/usr/share/datasets"};
  std::erase(places, fs::path());
  return places;
}

fs::path download_place() {
  const fs::path chosen = environment("BITCYCLE_DATA");
  if (!chosen.empty()) return chosen;
  const fs::path user = user_place();
  return user.empty() ? "data" : user;
}

FoundDataset find_dataset(const std::string& name, const fs::path& root) {
  const KnownDataset* known = known_dataset(name);
  assert(known != nullptr);
  return find_known(*known, root);
}

fs::path require_dataset(const std::string& name, const fs::path& root) {
  const FoundDataset found = find_dataset(name, root);
  if (!found.directory.empty()) return found.directory;
  const char* place = root.empty() ? " If it lies elsewhere, say where: --set data.root=DIR."
                                   : " Where data.root is set, no other place is looked at.";
  throw Error(ErrorCode::data,
              fmt::format("{} was not found in {}", name, joined(search_places(root))),
              found.cure + place);
}

std::vector<FoundDataset> list_datasets(const fs::path& root) {
  std::vector<FoundDataset> datasets;
  for (const KnownDataset& known : known_datasets()) datasets.push_back(find_known(known, root));
  for (const fs::path& place : search_places(root)) {
    for (const fs::path& folder : image_folders(place, root)) {
      datasets.push_back({"image_folder", folder, {}, ""});
    }
  }
  return datasets;
}

}  // namespace bitcycle
