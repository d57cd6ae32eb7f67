#include "bitcycle/data/catalog.h"

#include "bitcycle/data/locate.h"

#include "data/checksum.h"
#include "data/pictures.h"
#include "data/support.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Environment;
using test::expect_error;
using test::write;

// CIFAR-10 in small: so many records a file, with its own sums.
void write_small_cifar10(const fs::path& directory, int records) {
  std::string sums;
  for (const std::string name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                 "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    Bytes bytes(static_cast<std::size_t>(3073 * records));
    for (int i = 0; i < records; ++i) {
      bytes[static_cast<std::size_t>(3073 * i)] = static_cast<std::byte>(i % 10);
    }
    write(directory / name, bytes);
    sums += md5(bytes) + "  " + name + "\n";
  }
  write(directory / "MD5SUMS", sums);
}

// No dataset of this machine is to be found.
class CatalogTest : public testing::Test {
 protected:
  std::int64_t size(Split split, double validation, std::int64_t limit) const {
    return open_dataset({.name = "cifar10",
                         .root = root_.path(),
                         .split = split,
                         .validation = validation,
                         .limit = limit})
        ->size();
  }

  TemporaryDirectory root_;
  Environment data_{"BITCYCLE_DATA", (root_.path() / "data").string()};
  Environment home_{"XDG_DATA_HOME", (root_.path() / "home").string()};
};

TEST_F(CatalogTest, SearchesTheUsualPlacesInOrder) {
  EXPECT_EQ(search_places(),
            (std::vector<fs::path>{root_.path() / "data", "data", root_.path() / "home/bitcycle",
                                   "/usr/share/datasets"}));
  EXPECT_EQ(search_places("/x"), std::vector<fs::path>{"/x"});
  EXPECT_EQ(download_place(), root_.path() / "data");
  const Environment unset("BITCYCLE_DATA", std::nullopt);
  EXPECT_EQ(download_place(), root_.path() / "home/bitcycle");
}

TEST_F(CatalogTest, TheFirstCompleteDirectoryWins) {
  const fs::path first = root_.path() / "data/cifar-10-batches-bin";
  const fs::path second = root_.path() / "home/bitcycle/cifar-10-batches-bin";
  EXPECT_TRUE(find_dataset("cifar10").directory.empty());
  write(first / "test_batch.bin", Bytes(1));
  EXPECT_EQ(find_dataset("cifar10").directory, first);
  EXPECT_EQ(find_dataset("cifar10").missing.size(), 5u);
  EXPECT_FALSE(find_dataset("cifar10").complete());
  write_small_cifar10(second, 1);
  EXPECT_EQ(find_dataset("cifar10").directory, second);
  EXPECT_TRUE(find_dataset("cifar10").complete());
  EXPECT_EQ(find_dataset("cifar10", second).directory, second);
}

TEST_F(CatalogTest, ListsKnownSetsAndPictureFolders) {
  write(root_.path() / "data/birds/train/emu/1.jpg", test::flat_jpeg(8, 8, {1}));
  write(root_.path() / "data/birds/val/emu/1.jpg", test::flat_jpeg(8, 8, {1}));
  std::vector<std::string> names;
  for (const FoundDataset& found : list_datasets(root_.path() / "data"))
    names.push_back(found.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fashion_mnist", "cifar10", "cifar100", "ptb",
                                             "wikitext2", "wikitext103", "image_folder"}));
}

TEST_F(CatalogTest, MissingSetsSayWhereTheyWereLookedForAndHowToGetThem) {
  expect_error([] { open_dataset({.name = "cifar100"}); }, ErrorCode::data,
               {"cifar100 was not found in", (root_.path() / "data").string(),
                "/usr/share/datasets", "bitcycle data get cifar100", "--set data.root=DIR"});
  expect_error([&] { open_dataset({.name = "fashion_mnist", .root = root_.path()}); },
               ErrorCode::data, {"fashion_mnist was not found", "dataset-fashion-mnist"});
  expect_error([] { open_dataset({.name = "cifar_10"}); }, ErrorCode::usage,
               {"Did you mean \"cifar10\"?"});
  expect_error([] { open_dataset({.name = "image_folder"}); }, ErrorCode::usage, {"data.root"});
}

TEST_F(CatalogTest, IncompleteSetsNameTheFile) {
  write_small_cifar10(root_.path(), 1);
  fs::remove(root_.path() / "data_batch_4.bin");
  expect_error([&] { size(Split::train, 0, 0); }, ErrorCode::data,
               {"data_batch_4.bin is missing", "bitcycle data get cifar10"});
  EXPECT_EQ(size(Split::test, 0, 0), 1);
}

TEST_F(CatalogTest, SplitsAndLimits) {
  write_small_cifar10(root_.path(), 20);
  EXPECT_EQ(size(Split::train, 0, 0), 100);
  EXPECT_EQ(size(Split::train, 0.15, 0), 85);
  EXPECT_EQ(size(Split::validation, 0.15, 0), 15);
  EXPECT_EQ(size(Split::test, 0.15, 0), 20);
  EXPECT_EQ(size(Split::train, 0.15, 10), 10);
  EXPECT_EQ(size(Split::validation, 0.15, 10), 10);
  EXPECT_EQ(size(Split::test, 0, 10), 10);
  expect_error([&] { size(Split::validation, 0, 0); }, ErrorCode::usage, {"no validation split"});
  expect_error([&] { size(Split::train, 1, 0); }, ErrorCode::usage, {"validation fraction"});
}

// What is left of 5 samples for training and validation: never nothing without a word.
TEST_F(CatalogTest, ASplitThatLeavesNothingIsAnError) {
  write_small_cifar10(root_.path(), 1);
  EXPECT_EQ(size(Split::train, 0.8, 0), 1);
  expect_error([&] { size(Split::train, 0.9, 0); }, ErrorCode::data,
               {"cifar10", root_.path().string(), "has 5 samples", "data.validation = 0.9",
                "none is left to train on", "evaluation.best_on"});
  expect_error([&] { size(Split::validation, 0.99, 1); }, ErrorCode::data,
               {"none is left to train on"});
}

TEST_F(CatalogTest, OnePictureCannotBeTrainedOnAndValidated) {
  for (const std::string name : {"train/a/1.jpg", "train/b/1.jpg", "val/a/1.jpg"}) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {9}));
  }
  DatasetOptions options{.name = "image_folder", .root = root_.path(), .validation = 0.9};
  expect_error([&] { open_training_sets(options); }, ErrorCode::data,
               {"has 2 samples,", "takes 2 of them"});
  options.validation = 0;
  EXPECT_EQ(open_training_sets(options).train->size(), 2);
  fs::rename(root_ / "val", root_ / "test");
  options.validation = 0.1;
  expect_error([&] { open_training_sets(options); }, ErrorCode::data,
               {"nothing to validate on", "no class", "has two pictures"});
}

TEST_F(CatalogTest, PicturesWithoutSetsOfTheirOwnAreCutInThree) {
  for (int i = 0; i < 20; ++i) {
    for (const char* name : {"a", "b"}) {
      write(root_ / name / (std::to_string(i) + ".jpg"), test::flat_jpeg(8, 8, {9}));
    }
  }
  DatasetOptions options{
      .name = "image_folder", .root = root_.path(), .validation = 0.25, .test = 0.2, .seed = 5};
  const TrainingSets sets = open_training_sets(options);
  EXPECT_EQ(sets.test->size(), 8);
  EXPECT_EQ(sets.validation->size(), 8);
  EXPECT_EQ(sets.train->size(), 24);
  std::set<std::string> names;
  for (const auto& set : {sets.train, sets.validation, sets.test}) {
    std::int64_t first_class = 0;
    for (std::int64_t i = 0; i < set->size(); ++i) {
      names.insert(set->sample_name(i));
      first_class += set->label(i) == 0 ? 1 : 0;
    }
    EXPECT_EQ(2 * first_class, set->size());
  }
  EXPECT_EQ(names.size(), 40u);
  options.split = Split::test;
  EXPECT_EQ(open_dataset(options)->fingerprint(), sets.test->fingerprint());
  options.limit = 5;
  EXPECT_EQ(open_dataset(options)->size(), 5);
  EXPECT_EQ(open_training_sets(options).validation->size(), 5);
}

TEST_F(CatalogTest, CheckingAFolderNamesWhatIsDamaged) {
  for (const std::string name :
       {"train/a/1.jpg", "train/b/1.jpg", "train/b/2.jpg", "val/b/1.jpg"}) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {9}));
  }
  write(root_ / "train/a/notes.txt", "no picture");
  EXPECT_NO_THROW(check_dataset("image_folder", root_.path()));
  Bytes cut = test::noisy_jpeg(32, 32);
  cut.resize(cut.size() / 2);
  write(root_ / "train/b/cut.jpg", cut);
  expect_error([&] { check_dataset("image_folder", root_.path()); }, ErrorCode::data,
               {"train/b/cut.jpg is damaged"});
}

TEST_F(CatalogTest, CheckingAFolderCountsItsPicturesAndNamesAllThatIsWrong) {
  for (const std::string name : {"train/a/1.jpg", "train/b/1.jpg", "train/b/2.jpg", "val/b/1.jpg",
                                 "train/loose.jpg", "looser.jpg"}) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {9}));
  }
  Bytes cut = test::noisy_jpeg(32, 32);
  cut.resize(cut.size() / 2);
  for (int i = 0; i < 12; ++i) write(root_ / ("train/a/cut" + std::to_string(i) + ".jpg"), cut);
  write(root_ / "train/a/notes.txt", "no picture");
  write(root_ / "README.txt", "about the pictures");
  const PictureFolderCheck check = check_picture_folder(root_.path());
  EXPECT_THAT(check.classes, testing::ElementsAre("a", "b"));
  ASSERT_EQ(check.directories.size(), 2u);
  EXPECT_EQ(check.directories[0].name, "train");
  EXPECT_THAT(check.directories[0].pictures, testing::ElementsAre(1, 2));
  EXPECT_EQ(check.directories[1].name, "val");
  EXPECT_THAT(check.directories[1].pictures, testing::ElementsAre(0, 1));
  EXPECT_EQ(check.damaged.size(), 12u);
  EXPECT_THAT(check.skipped,
              testing::ElementsAre(testing::StartsWith("train/a/notes.txt"),
                                   testing::StartsWith("train/loose.jpg lies beside"),
                                   testing::StartsWith("looser.jpg lies beside")));
}

TEST_F(CatalogTest, EmptySetsAreErrors) {
  const auto open_synthetic = [](std::int64_t train, std::int64_t test, Split split) {
    open_dataset({.name = "synthetic",
                  .split = split,
                  .synthetic = {.train_size = train, .test_size = test}});
  };
  EXPECT_NO_THROW(open_synthetic(1, 0, Split::train));
  EXPECT_NO_THROW(open_synthetic(0, 1, Split::test));
  expect_error([&] { open_synthetic(0, 1, Split::train); }, ErrorCode::data,
               {"the training set of synthetic has no samples"});
  expect_error([&] { open_synthetic(1, 0, Split::test); }, ErrorCode::data,
               {"the test set of synthetic has no samples"});
}

TEST_F(CatalogTest, EmptyFilesAreNotIntact) {
  write_small_cifar10(root_.path(), 0);
  expect_error([&] { check_dataset("cifar10", root_.path()); }, ErrorCode::data,
               {"data_batch_1.bin is damaged", "at least one record", "an empty file"});
}

TEST_F(CatalogTest, TrainingSetsAreThoseOfTheSplits) {
  const DatasetOptions options{.name = "synthetic", .validation = 0.25, .seed = 3};
  const TrainingSets sets = open_training_sets(options);
  DatasetOptions validation = options;
  validation.split = Split::validation;
  EXPECT_EQ(sets.validation->image(7).pixels, open_dataset(validation)->image(7).pixels);
  EXPECT_EQ(sets.train->size(), 37'500);
  EXPECT_EQ(open_training_sets({.name = "synthetic"}).validation, nullptr);
}

TEST_F(CatalogTest, AFlippedBitOfListedDataIsFound) {
  write_small_cifar10(root_.path(), 2);
  EXPECT_NO_THROW(check_dataset("cifar10", root_.path()));
  Bytes bytes(3073 * 2);
  bytes[1000] = std::byte{4};
  write(root_.path() / "data_batch_3.bin", bytes);
  expect_error([&] { check_dataset("cifar10", root_.path()); }, ErrorCode::data,
               {"data_batch_3.bin is damaged", "MD5"});
}

TEST_F(CatalogTest, OtherDataUnderOfficialNamesNeedsItsSums) {
  write_small_cifar10(root_.path(), 2);
  fs::remove(root_.path() / "MD5SUMS");
  expect_error(
      [&] { size(Split::test, 0, 0); }, ErrorCode::data,
      {"test_batch.bin is damaged", "expected 30730000 bytes", "found 6146", "md5sum * > MD5SUMS"});
}

TEST_F(CatalogTest, PictureFoldersHaveTrainAndTest) {
  for (const std::string name :
       {"train/a/1.jpg", "train/b/1.jpg", "train/b/2.jpg", "val/b/1.jpg"}) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {9}));
  }
  const DatasetOptions train{.name = "image_folder", .root = root_.path()};
  EXPECT_EQ(open_dataset(train)->size(), 3);
  EXPECT_EQ(
      open_dataset({.name = "image_folder", .root = root_.path(), .split = Split::test})->size(),
      1);
}

// The real thing, where Debian's package is installed.
TEST(FashionMnistTest, IsWhatItsAuthorsDescribe) {
  const FoundDataset found = find_dataset("fashion_mnist", "/usr/share/datasets");
  if (!found.complete())
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  for (Split split : {Split::train, Split::test}) {
    const auto dataset =
        open_dataset({.name = "fashion_mnist", .root = found.directory, .split = split});
    ASSERT_EQ(dataset->size(), split == Split::train ? 60'000 : 10'000);
    std::vector<int> counts(10);
    for (std::int64_t i = 0; i < dataset->size(); ++i) {
      ++counts[static_cast<std::size_t>(dataset->label(i))];
    }
    EXPECT_EQ(counts, std::vector<int>(10, split == Split::train ? 6000 : 1000));
    EXPECT_EQ(dataset->image(0).shape, (ImageShape{1, 28, 28}));
    EXPECT_EQ(dataset->label(0), 9);  // both begin with an ankle boot
  }
}

TEST(Cifar10Test, IsWhatItsAuthorsDescribe) {
  const FoundDataset found = find_dataset("cifar10");
  if (!found.complete()) GTEST_SKIP() << "CIFAR-10 is not on this machine. " << found.cure;
  const auto test =
      open_dataset({.name = "cifar10", .root = found.directory, .split = Split::test});
  ASSERT_EQ(test->size(), 10'000);
  std::vector<int> counts(10);
  for (std::int64_t i = 0; i < 10'000; ++i) ++counts[static_cast<std::size_t>(test->label(i))];
  EXPECT_EQ(counts, std::vector<int>(10, 1000));
  EXPECT_EQ(test->label(0), 3);  // a cat
}

}  // namespace
}  // namespace bitcycle
