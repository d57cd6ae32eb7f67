// A dataset's fingerprint changes when its samples do, and only then.

#include "data/memory_dataset.h"
#include "data/pictures.h"
#include "data/pictures/image_folder.h"
#include "data/subset.h"
#include "data/support.h"
#include "data/synthetic.h"

#include <set>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

std::string of(const PackedImages& images) {
  return MemoryDataset(images).fingerprint();
}

TEST(DatasetFingerprintTest, EveryPixelLabelAndTheNumberOfClassesCountInMemory) {
  const PackedImages images{{1, 1, 2}, 3, {1, 2, 3, 4}, {0, 2}};
  const std::string before = of(images);
  EXPECT_EQ(of(images), before);
  PackedImages changed = images;
  changed.pixels[3] ^= 1;
  EXPECT_NE(of(changed), before);
  changed = images;
  changed.labels[0] = 1;
  EXPECT_NE(of(changed), before);
  changed = images;
  changed.classes = 4;
  EXPECT_NE(of(changed), before);
}

TEST(DatasetFingerprintTest, WhichSamplesASubsetTakesCounts) {
  const auto whole =
      std::make_shared<MemoryDataset>(PackedImages{{1, 1, 1}, 2, {7, 7, 7}, {0, 0, 0}});
  EXPECT_NE(subset(whole, {0, 1})->fingerprint(), subset(whole, {0, 2})->fingerprint());
  EXPECT_EQ(subset(whole, {0, 1})->fingerprint(), subset(whole, {0, 1})->fingerprint());
}

TEST(DatasetFingerprintTest, DatasetsOfOtherKindsGoByLabelsAndSomePictures) {
  const SyntheticOptions options{
      .shape = {.channels = 1, .height = 4, .width = 4}, .classes = 2, .train_size = 5000};
  const auto of_seed = [&](std::uint64_t seed, const SyntheticOptions& with) {
    return make_synthetic(with, RandomKey(seed), Split::train)->fingerprint();
  };
  EXPECT_EQ(of_seed(1, options), of_seed(1, options));
  EXPECT_NE(of_seed(1, options), of_seed(2, options));
  SyntheticOptions longer = options;
  longer.train_size = 5001;
  EXPECT_NE(of_seed(1, options), of_seed(1, longer));
}

class ImageFolderFingerprintTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"train/cat/a.jpg", "train/cat/b.jpg", "train/dog/c.jpg", "val/cat/v.jpg"}) {
      test::write(root_.path() / name, test::flat_jpeg(8, 8, {50}));
    }
  }
  std::string fingerprint() const { return open_image_folder({root_.path()}).train->fingerprint(); }

  TemporaryDirectory root_;
};

TEST_F(ImageFolderFingerprintTest, StaysWhenTheFolderMoves) {
  const std::string before = fingerprint();
  const TemporaryDirectory other;
  fs::copy(root_.path(), other / "moved", fs::copy_options::recursive);
  EXPECT_EQ(open_image_folder({other / "moved"}).train->fingerprint(), before);
}

TEST_F(ImageFolderFingerprintTest, ChangesWithAddedRemovedRenamedAndReplacedPictures) {
  std::set<std::string> seen = {fingerprint()};
  test::write(root_ / "train/cat/d.jpg", test::flat_jpeg(8, 8, {50}));
  EXPECT_TRUE(seen.insert(fingerprint()).second) << "added";
  fs::rename(root_ / "train/cat/d.jpg", root_ / "train/dog/d.jpg");
  EXPECT_TRUE(seen.insert(fingerprint()).second) << "moved to another class";
  test::write(root_ / "train/dog/d.jpg", test::noisy_jpeg(8, 8));
  EXPECT_TRUE(seen.insert(fingerprint()).second) << "replaced";
  fs::remove(root_ / "train/cat/a.jpg");
  EXPECT_TRUE(seen.insert(fingerprint()).second) << "removed";
}

TEST(SpreadIndicesTest, ReachFromTheFirstToTheLast) {
  EXPECT_EQ(spread_indices(10, 4), (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(spread_indices(3, 100), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(spread_indices(5, 1), (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(spread_indices(0, 5).empty());
}

}  // namespace
}  // namespace bitcycle
