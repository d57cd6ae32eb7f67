#include "data/image_folder.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/base/nearest.h"

#include "data/data_directory.h"
#include "data/jpeg.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLayout =
    "An image folder has train/<class>/*.jpg and val/<class>/*.jpg, with the same class names.";

struct Sample {
  std::string file;  // relative to the root
  int label = 0;
};

enum class FileKind { jpeg, other_picture, no_picture };

FileKind kind_of(const fs::path& file) {
  constexpr std::array<std::string_view, 6> kOther = {".png", ".gif",  ".bmp",
                                                      ".tif", ".tiff", ".webp"};
  std::string extension = file.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".jpg" || extension == ".jpeg") return FileKind::jpeg;
  const bool other = std::find(kOther.begin(), kOther.end(), extension) != kOther.end();
  return other ? FileKind::other_picture : FileKind::no_picture;
}

std::vector<std::string> class_names(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw Error(ErrorCode::data, directory.string() + " is not a directory", kLayout);
  }
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.')) names.push_back(name);
  }
  if (names.empty()) {
    throw Error(ErrorCode::data, directory.string() + " has no class directories", kLayout);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void add_pictures(const fs::path& root, const fs::path& directory, int label,
                  std::vector<Sample>& samples) {
  const std::size_t before = samples.size();
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(directory, options)) {
    const fs::path& file = entry.path();
    if (!entry.is_regular_file() || file.filename().string().starts_with('.')) continue;
    const FileKind kind = kind_of(file);
    if (kind == FileKind::other_picture) {
      throw Error(ErrorCode::data, file.string() + " is not a JPEG file",
                  "Only JPEG pictures are read: convert it, or move it out of the way.");
    }
    if (kind == FileKind::jpeg) {
      samples.push_back({file.lexically_relative(root).generic_string(), label});
    }
  }
  if (samples.size() == before) {
    throw Error(ErrorCode::data, directory.string() + " has no JPEG pictures", kLayout);
  }
  // The order in which a directory lists its files is the file system's accident.
  std::sort(samples.begin() + static_cast<std::ptrdiff_t>(before), samples.end(),
            [](const Sample& a, const Sample& b) { return a.file < b.file; });
}

int class_number(const std::string& name, const std::vector<std::string>& classes,
                 const fs::path& directory) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), name);
  if (found != classes.end() && *found == name) return static_cast<int>(found - classes.begin());
  throw Error(ErrorCode::data,
              fmt::format("{} is not among the {} classes of train/", (directory / name).string(),
                          classes.size()),
              suggest(name, classes));
}

class ImageFolder final : public Dataset {
 public:
  ImageFolder(const fs::path& root, const std::string& part)
      : root_(root), directory_(root, {}, kLayout), classes_(class_names(root / "train")) {
    for (const std::string& name : class_names(root / part)) {
      add_pictures(root, root / part / name, class_number(name, classes_, root / part), samples_);
    }
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(samples_.size()); }
  int classes() const override { return static_cast<int>(classes_.size()); }
  int label(std::int64_t index) const override { return sample(index).label; }
  Image image(std::int64_t index) const override {
    const DataDirectory::File file = directory_.read(sample(index).file);
    return decode_jpeg(file.bytes, file.origin);
  }
  // Reading a million pictures is no part of opening them, and neither is asking for their sizes:
  // names and labels of all, and the sizes of a few thousand files spread evenly.
  std::string fingerprint() const override {
    Fingerprint print;
    for (const std::string& name : classes_) print.add(name);
    for (const Sample& sample : samples_) {
      print.add(sample.file);
      print.add(sample.label);
    }
    for (const std::int64_t i : spread_indices(size(), kSampledSizes)) {
      print.add(static_cast<std::int64_t>(fs::file_size(root_ / sample(i).file)));
    }
    return print.text();
  }

 private:
  static constexpr std::int64_t kSampledSizes = 4096;

  const Sample& sample(std::int64_t index) const {
    return samples_[static_cast<std::size_t>(index)];
  }

  fs::path root_;
  DataDirectory directory_;
  std::vector<std::string> classes_;
  std::vector<Sample> samples_;
};

}  // namespace

std::shared_ptr<const Dataset> open_image_folder(const fs::path& root, const std::string& part) {
  try {
    return std::make_shared<ImageFolder>(root, part);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::data,
                fmt::format("cannot list {}: {}", error.path1().string(), error.code().message()),
                kLayout);
  }
}

}  // namespace bitcycle
