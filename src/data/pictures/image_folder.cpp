#include "data/pictures/image_folder.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/base/nearest.h"

#include "data/data_directory.h"
#include "data/pictures/folder_scan.h"
#include "data/pictures/picture.h"
#include "data/subset.h"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr const char* kLayout =
    "An image folder has a directory for each class, with JPEG or PNG pictures: "
    "train/<class>/*.jpg, and the same in val/ or test/; or <class>/*.jpg alone.";
constexpr std::size_t kNamed = 5;  // of what could be a long list

std::vector<std::string> class_directories(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw Error(ErrorCode::data, directory.string() + " is not a directory",
                std::string("Name yours: --set data.root=DIR. ") + kLayout);
  }
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !name.starts_with('.')) names.push_back(name);
  }
  if (names.empty()) {
    throw Error(ErrorCode::data, directory.string() + " has no class directories", kLayout);
  }
  std::ranges::sort(names);
  return names;
}

int class_number(const std::string& name, const std::vector<std::string>& classes,
                 const fs::path& directory) {
  const auto found = std::ranges::lower_bound(classes, name);
  if (found != classes.end() && *found == name) return static_cast<int>(found - classes.begin());
  throw Error(ErrorCode::data,
              fmt::format("{} is not among the {} classes that are trained on",
                          (directory / name).string(), classes.size()),
              suggest(name, classes));
}

// "a; b; c and 12 more"
std::string listed(const std::vector<std::string>& items) {
  const std::size_t named = std::min(items.size(), kNamed);
  const std::string text =
      fmt::format("{}", fmt::join(items.begin(), items.begin() + static_cast<long>(named), "; "));
  return named == items.size() ? text : fmt::format("{}; and {} more", text, items.size() - named);
}

std::string counted(std::int64_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

// The pictures of one directory, by the numbers of `classes`.
class PictureSet final : public Dataset {
 public:
  PictureSet(std::shared_ptr<const DataDirectory> root, std::vector<std::string> classes,
             std::vector<PictureFile> pictures)
      : root_(std::move(root)), classes_(std::move(classes)), pictures_(std::move(pictures)) {}

  std::int64_t size() const override { return std::ssize(pictures_); }
  int classes() const override { return static_cast<int>(classes_.size()); }
  int label(std::int64_t index) const override { return picture(index).label; }
  std::string sample_name(std::int64_t index) const override { return picture(index).file; }
  Image image(std::int64_t index) const override {
    const DataDirectory::File file = root_->read(picture(index).file);
    return decode_picture(file.bytes, file.origin);
  }
  // Reading a million pictures is no part of opening them, and neither is asking for their sizes:
  // names and labels of all, and the sizes of a few thousand files spread evenly.
  std::string fingerprint() const override {
    Fingerprint print;
    for (const std::string& name : classes_) print.add(name);
    for (const PictureFile& picture : pictures_) {
      print.add(picture.file);
      print.add(picture.label);
    }
    for (const std::int64_t i : spread_indices(size(), kSampledSizes)) {
      print.add(static_cast<std::int64_t>(fs::file_size(root_->path() / picture(i).file)));
    }
    return print.text();
  }

 private:
  static constexpr std::int64_t kSampledSizes = 4096;

  const PictureFile& picture(std::int64_t index) const {
    return pictures_[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const DataDirectory> root_;
  std::vector<std::string> classes_;
  std::vector<PictureFile> pictures_;
};

std::vector<std::int64_t> count_by_class(const std::vector<PictureFile>& pictures,
                                         std::size_t classes) {
  std::vector<std::int64_t> counts(classes);
  for (const PictureFile& picture : pictures) ++counts[static_cast<std::size_t>(picture.label)];
  return counts;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Opens the directories of a folder one after the other, and collects what there is to say.
class Opening {
 public:
  explicit Opening(const ImageFolderOptions& options)
      : options_(options),
        root_(std::make_shared<DataDirectory>(options.root, std::vector<KnownFile>(), kLayout)) {}

  ImageFolder open() {
    const fs::path& root = options_.root;
    const bool train = is_part("train"), val = is_part("val"), test = is_part("test");
    if (fs::is_directory(root)) tell_of_other_names(train);
    if (!train && (val || test)) {
      throw Error(ErrorCode::data,
                  fmt::format("{} has {}/ but no train/", root.string(), val ? "val" : "test"),
                  kLayout);
    }
    const fs::path trained = train ? root / "train" : root;
    classes_ = class_directories(trained);
    require_several(trained);
    folder_.train = open_part(trained);
    if (val && test) folder_.validation = open_part(root / "val");
    if (val || test) folder_.test = open_part(root / (test ? "test" : "val"));
    folder_.balanced = test || !val;
    if (!folder_.test) take_test(trained);
    if (train) tell_beside(root);
    folder_.classes = classes_;
    return std::move(folder_);
  }

 private:
  bool is_part(const char* name) const { return fs::is_directory(options_.root / name); }

  // Train/, validation/ and their like are parts that somebody named otherwise, not classes.
  void tell_of_other_names(bool has_train) {
    static const std::map<std::string, std::string> usual = {
        {"train", "train"},    {"training", "train"}, {"val", "val"},     {"valid", "val"},
        {"validation", "val"}, {"test", "test"},      {"testing", "test"}};
    for (const auto& entry : fs::directory_iterator(options_.root)) {
      const std::string name = entry.path().filename().string();
      const auto part = usual.find(lower(name));
      if (!entry.is_directory() || part == usual.end() || part->second == name) continue;
      if (!has_train && part->second == "train") {
        throw Error(ErrorCode::data,
                    fmt::format("expected train/ in {}, found {}/", options_.root.string(), name),
                    "Rename it. " + std::string(kLayout));
      }
      if (!is_part(part->second.c_str())) {
        folder_.notices.push_back(
            fmt::format("{}/ is not read: is it {}/ under another name?", name, part->second));
      }
    }
  }

  void require_several(const fs::path& directory) {
    if (classes_.size() < 2) {
      throw Error(ErrorCode::data,
                  fmt::format("{} has one class only, \"{}\": there is nothing to tell apart",
                              directory.string(), classes_.front()),
                  kLayout);
    }
    std::map<std::string, std::string> seen;
    for (const std::string& name : classes_) {
      const auto [other, fresh] = seen.emplace(lower(name), name);
      if (fresh) continue;
      folder_.notices.push_back(
          fmt::format("{}: \"{}\" and \"{}\" differ in case alone and are two classes; if they are "
                      "meant to be one, put their pictures together",
                      directory.string(), other->second, name));
    }
  }

  std::shared_ptr<const Dataset> open_part(const fs::path& directory) {
    std::vector<ClassDirectory> directories;
    for (const std::string& name : class_directories(directory)) {
      directories.push_back({directory / name, class_number(name, classes_, directory)});
    }
    FolderScan scan = scan_pictures(*root_, directories);
    require_listed(scan);
    std::ranges::move(pictures_beside_classes(options_.root, directory),
                      std::back_inserter(scan.skipped));
    tell_skipped(directory, scan.skipped);
    tell_turned(directory, scan);
    check_classes(directory, scan);
    std::ranges::copy(scan.damaged, std::back_inserter(folder_.damaged));
    std::ranges::copy(scan.skipped, std::back_inserter(folder_.skipped));
    folder_.counts.push_back({directory == options_.root ? "" : directory.filename().string(),
                              count_by_class(scan.pictures, classes_.size())});
    return std::make_shared<PictureSet>(root_, classes_, std::move(scan.pictures));
  }

  // What a class lacks unseen would change what is learned.
  void require_listed(const FolderScan& scan) const {
    if (scan.unlisted.empty()) return;
    throw Error(ErrorCode::data, listed(scan.unlisted),
                "Make every directory of the classes readable (chmod -R u+rX), or take it away.");
  }

  // Where train/ has the classes, the root has nothing but directories of them.
  void tell_beside(const fs::path& root) {
    const std::vector<std::string> beside = pictures_beside_classes(root, root);
    tell_skipped(root, beside);
    std::ranges::copy(beside, std::back_inserter(folder_.skipped));
  }

  void tell_skipped(const fs::path& directory, const std::vector<std::string>& skipped) {
    if (skipped.empty()) return;
    folder_.notices.push_back(fmt::format("{}: {} skipped: {}", directory.string(),
                                          counted(std::ssize(skipped), "file is", "files are"),
                                          listed(skipped)));
  }

  void tell_turned(const fs::path& directory, const FolderScan& scan) {
    if (scan.turned == 0) return;
    folder_.notices.push_back(fmt::format(
        "{}: {} an EXIF orientation, which is not applied (as in torchvision); to turn them for "
        "good: mogrify -auto-orient",
        directory.string(), counted(scan.turned, "picture has", "pictures have")));
  }

  // A class without pictures cannot be learned; one that is not tested can.
  void check_classes(const fs::path& directory, const FolderScan& scan) {
    const std::vector<std::int64_t> counts = count_by_class(scan.pictures, classes_.size());
    std::vector<std::string> empty;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) empty.push_back(classes_[i]);
    }
    if (empty.empty()) return;
    const std::string what = fmt::format("{} has no pictures of {}", directory.string(),
                                         counted(std::ssize(empty), "class", "classes"));
    const bool is_trained_on = folder_.train == nullptr;
    if (scan.pictures.empty() ||
        (is_trained_on && options_.empty_classes == EmptyClasses::refused)) {
      throw Error(ErrorCode::data,
                  fmt::format("{}: {}{}", what, listed(empty),
                              scan.skipped.empty() ? "" : "; skipped: " + listed(scan.skipped)),
                  std::string("Add pictures, or remove the empty directories. ") + kLayout);
    }
    folder_.notices.push_back(fmt::format("{}: {}", what, listed(empty)));
  }

  void take_test(const fs::path& directory) {
    const auto whole = folder_.train;
    BalancedSplit split = balanced_split(*whole, options_.test, options_.key.derive("test"));
    if (split.taken.empty()) {
      throw Error(ErrorCode::data,
                  fmt::format("there is nothing to test on: {} has neither val/ nor test/, and "
                              "data.test = {} takes none of its {}",
                              options_.root.string(), options_.test,
                              counted(whole->size(), "picture", "pictures")),
                  "Raise data.test, or add pictures: a class needs two for one of them to be "
                  "tested on.");
    }
    folder_.notices.push_back(fmt::format(
        "{} of {} pictures are tested on and not trained on: there is no val/ or test/, so they "
        "are split off {} by the seed and their names (data.test = {})",
        split.taken.size(), whole->size(), directory.string(), options_.test));
    folder_.test = subset(whole, std::move(split.taken));
    folder_.train = subset(whole, std::move(split.left));
  }

  ImageFolderOptions options_;
  std::shared_ptr<const DataDirectory> root_;
  std::vector<std::string> classes_;
  ImageFolder folder_;
};

}  // namespace

std::vector<std::string> picture_classes(const fs::path& root) {
  return class_directories(fs::is_directory(root / "train") ? root / "train" : root);
}

ImageFolder open_image_folder(const ImageFolderOptions& options) {
  try {
    return Opening(options).open();
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::data,
                fmt::format("cannot list {}: {}", error.path1().string(), error.code().message()),
                kLayout);
  }
}

}  // namespace bitcycle
