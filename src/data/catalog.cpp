#include "bitcycle/data/catalog.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/data/locate.h"

#include "data/cifar.h"
#include "data/idx.h"
#include "data/known_datasets.h"
#include "data/pictures/image_folder.h"
#include "data/subset.h"
#include "data/synthetic.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr int kFashionClasses = 10;

PackedImages read_fashion_mnist(const DataDirectory& directory,
                                const std::vector<KnownFile>& files) {
  const DataDirectory::File images = directory.read(files[0].name);
  const DataDirectory::File labels = directory.read(files[1].name);
  return decode_idx_images({images.bytes, images.origin}, {labels.bytes, labels.origin},
                           kFashionClasses);
}

PackedImages read_cifar(const DataDirectory& directory, const std::vector<KnownFile>& files,
                        CifarKind kind) {
  PackedImages images = empty_cifar(kind);
  for (const KnownFile& known : files) {
    const DataDirectory::File file = directory.read(known.name);
    append_cifar(file.bytes, kind, file.origin, images);
  }
  return images;
}

std::shared_ptr<const Dataset> open_known(const KnownDataset& known, const fs::path& root,
                                          Split split) {
  const DataDirectory directory(require_dataset(known.name, root), known.files(), known.cure);
  const std::vector<KnownFile>& files = split == Split::test ? known.test : known.train;
  if (known.name == "fashion_mnist") {
    return std::make_shared<MemoryDataset>(read_fashion_mnist(directory, files));
  }
  const CifarKind kind = known.name == "cifar10" ? CifarKind::cifar10 : CifarKind::cifar100;
  return std::make_shared<MemoryDataset>(read_cifar(directory, files, kind));
}

RandomKey split_key(const DatasetOptions& options) {
  return RandomKey(options.seed).derive("split");
}

ImageFolder open_pictures(const DatasetOptions& options,
                          EmptyClasses empty_classes = EmptyClasses::refused) {
  if (options.root.empty()) {
    throw Error(ErrorCode::usage, "image_folder needs to know where the pictures are",
                "Set data.root to the directory that has a directory for each class, or train/.");
  }
  return open_image_folder({options.root, options.test, split_key(options), empty_classes});
}

// The whole set that a split is taken from.
std::shared_ptr<const Dataset> open_whole(const DatasetOptions& options, Split split) {
  if (options.name == "synthetic") {
    return make_synthetic(options.synthetic, RandomKey(options.seed).derive("synthetic"), split);
  }
  if (options.name == "image_folder") {
    const ImageFolder folder = open_pictures(options);
    return split == Split::test ? folder.test : folder.train;
  }
  const KnownDataset* known = known_dataset(options.name);
  if (known != nullptr && known->kind == DatasetKind::pictures) {
    return open_known(*known, options.root, split);
  }
  throw Error(ErrorCode::usage, fmt::format("there is no dataset \"{}\"", options.name),
              suggest(options.name, dataset_names()));
}

void require_fraction(double validation) {
  if (validation >= 0 && validation < 1) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("expected a validation fraction from 0 to below 1, found {}", validation));
}

// What a dataset is called in messages.
std::string shown(const DatasetOptions& options) {
  return options.root.empty() ? options.name
                              : fmt::format("{} in {}", options.name, options.root.string());
}

std::string samples(std::int64_t count) {
  return count == 1 ? "1 sample" : fmt::format("{} samples", count);
}

void require_samples(const Dataset& dataset, const DatasetOptions& options, const char* which) {
  if (dataset.size() > 0) return;
  throw Error(ErrorCode::data,
              fmt::format("the {} set of {} has no samples", which, shown(options)),
              "Add samples to it, or use another dataset; `bitcycle data` lists what is found.");
}

// The part of a training set that is trained on and validated.
std::shared_ptr<const Dataset> part_of(const std::shared_ptr<const Dataset>& whole,
                                       const DatasetOptions& options) {
  require_samples(*whole, options, "training");
  if (options.part.whole()) return whole;
  auto part = subset(whole, part_indices(*whole, options.part));
  if (part->size() > 0) return part;
  throw Error(ErrorCode::data,
              fmt::format("data.part = \"{}\": the training set of {} has {}, and no class enough "
                          "for this part to have one",
                          to_text(options.part), shown(options), samples(whole->size())),
              "Use fewer parts.");
}

// What the samples to train on are called in messages.
std::string shown_training_set(const DatasetOptions& options) {
  const std::string set = "the training set of " + shown(options);
  return options.part.whole() ? set : "part " + to_text(options.part) + " of " + set;
}

// Validation takes at least one sample, and as many as its fraction rounds to.
void require_training_samples(const TrainingSets& sets, const Dataset& whole,
                              const DatasetOptions& options) {
  if (sets.train->size() > 0) return;
  throw Error(ErrorCode::data,
              fmt::format("{} has {}, and data.validation = {} takes {} of them: none is left to "
                          "train on",
                          shown_training_set(options), samples(whole.size()), options.validation,
                          whole.size()),
              "Use more samples, or lower data.validation; with data.validation = 0 and "
              "evaluation.best_on = \"test\" all of them are trained on.");
}

// Fewer cannot be both trained on and validated.
constexpr std::int64_t kFewestTrainingSamples = 2;

void require_usable(const Dataset& dataset, const DatasetOptions& options) {
  if (options.split != Split::train || dataset.size() >= kFewestTrainingSamples) return;
  throw Error(ErrorCode::data,
              fmt::format("the training set of {} has {}, too few to train on and to validate",
                          shown(options), samples(dataset.size())),
              "Add samples to it.");
}

std::shared_ptr<const Dataset> limited_set(std::shared_ptr<const Dataset> whole,
                                           const DatasetOptions& options) {
  if (options.limit == 0) return whole;
  SplitIndices indices = split_indices(whole->size(), 0, options.limit, split_key(options));
  return subset(std::move(whole), std::move(indices.train));
}

// How samples are chosen for validation.
enum class Draw { from_all, from_each_class };

SplitIndices validation_split(const Dataset& whole, const DatasetOptions& options, Draw draw) {
  const RandomKey key = split_key(options);
  if (draw == Draw::from_all) {
    return split_indices(whole.size(), options.validation, options.limit, key);
  }
  BalancedSplit split = balanced_split(whole, options.validation, key.derive("validation"));
  if (options.validation > 0 && split.taken.empty()) {
    throw Error(ErrorCode::data,
                fmt::format("there is nothing to validate on: no class of {} has two pictures",
                            shown_training_set(options)),
                "Add pictures; or set data.validation = 0 and evaluation.best_on = \"test\".");
  }
  return {limited(std::move(split.left), options.limit, key),
          limited(std::move(split.taken), options.limit, key)};
}

TrainingSets cut(const std::shared_ptr<const Dataset>& whole, const DatasetOptions& options,
                 Draw draw) {
  if (options.validation == 0 && options.limit == 0) return {.train = whole};
  SplitIndices indices = validation_split(*whole, options, draw);
  TrainingSets sets{.train = subset(whole, std::move(indices.train))};
  require_training_samples(sets, *whole, options);
  if (options.validation > 0) sets.validation = subset(whole, std::move(indices.validation));
  return sets;
}

std::string sizes_notice(const TrainingSets& sets, const DatasetOptions& options) {
  return fmt::format("{}: {} classes; {} pictures to train on, {} to validate on, {} to test on",
                     options.root.string(), sets.train->classes(), sets.train->size(),
                     sets.validation ? sets.validation->size() : 0, sets.test->size());
}

TrainingSets open_folder_sets(const DatasetOptions& options) {
  ImageFolder folder = open_pictures(options);
  const auto whole = part_of(folder.train, options);
  TrainingSets sets;
  if (folder.validation) {
    sets = {.train = limited_set(whole, options)};
    if (options.validation > 0) sets.validation = limited_set(folder.validation, options);
  } else {
    sets = cut(whole, options, folder.balanced ? Draw::from_each_class : Draw::from_all);
  }
  sets.test = limited_set(folder.test, options);
  sets.notices = std::move(folder.notices);
  sets.notices.push_back(sizes_notice(sets, options));
  return sets;
}

// What decoding the pictures of a set complains of.
void add_damage(const Dataset& set, std::vector<std::string>& damaged) {
  for (std::int64_t i = 0; i < set.size(); ++i) {
    try {
      set.image(i);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::data) throw;
      damaged.emplace_back(error.what());
    }
  }
}

// What is wrong is told once all has been tried.
void require_intact(const PictureFolderCheck& check) {
  if (const auto empty = check.empty_classes(); !empty.empty()) {
    throw Error(ErrorCode::data, fmt::format("without pictures: {}", fmt::join(empty, ", ")),
                "Add pictures, or remove the empty directories.");
  }
  if (check.damaged.empty()) return;
  throw Error(ErrorCode::data, fmt::format("{}", fmt::join(check.damaged, "\n")),
              "Get them again, or move them out of the way.");
}

}  // namespace

const std::vector<std::string>& dataset_names() {
  static const std::vector<std::string> names = {"fashion_mnist", "cifar10", "cifar100",
                                                 "image_folder", "synthetic"};
  return names;
}

TrainingSets open_training_sets(const DatasetOptions& options) {
  require_fraction(options.validation);
  if (options.name == "image_folder") return open_folder_sets(options);
  return cut(part_of(open_whole(options, Split::train), options), options, Draw::from_all);
}

std::shared_ptr<const Dataset> open_dataset(const DatasetOptions& options) {
  if (options.split == Split::test) {
    auto whole = open_whole(options, Split::test);
    require_samples(*whole, options, "test");
    return limited_set(std::move(whole), options);
  }
  const TrainingSets sets = open_training_sets(options);
  if (options.split == Split::train) return sets.train;
  if (sets.validation) return sets.validation;
  throw Error(ErrorCode::usage, "there is no validation split: its fraction is 0",
              "Set data.validation above 0, or use the test split.");
}

void check_dataset(const std::string& name, const fs::path& root) {
  if (name == "image_folder") return require_intact(check_picture_folder(root));
  for (Split split : {Split::train, Split::test}) {
    const DatasetOptions options{.name = name, .root = root, .split = split};
    const auto dataset = open_dataset(options);
    require_usable(*dataset, options);
    for (std::int64_t i = 0; i < dataset->size(); ++i) dataset->image(i);
  }
}

std::vector<std::string> PictureFolderCheck::empty_classes() const {
  std::vector<std::string> empty;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (directories.front().pictures[i] == 0) empty.push_back(classes[i]);
  }
  return empty;
}

bool PictureFolderCheck::can_be_trained_on() const {
  return damaged.empty() && empty_classes().empty();
}

PictureFolderCheck check_picture_folder(const fs::path& root) {
  const DatasetOptions options{.name = "image_folder", .root = root};
  ImageFolder folder = open_pictures(options, EmptyClasses::counted);
  PictureFolderCheck check{.classes = std::move(folder.classes),
                           .directories = {},
                           .damaged = folder.damaged,
                           .skipped = {}};
  for (PictureCount& count : folder.counts) {
    check.directories.push_back({std::move(count.directory), std::move(count.pictures)});
  }
  const std::set<std::string> damaged(folder.damaged.begin(), folder.damaged.end());
  std::ranges::copy_if(folder.skipped, std::back_inserter(check.skipped),
                       [&](const std::string& file) { return !damaged.contains(file); });
  for (const auto& set : {folder.train, folder.validation, folder.test}) {
    if (set != nullptr) add_damage(*set, check.damaged);
  }
  require_usable(*folder.train, options);
  return check;
}

}  // namespace bitcycle
