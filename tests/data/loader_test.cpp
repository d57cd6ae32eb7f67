#include "bitcycle/data/loader.h"

#include "data/support.h"
#include "data/synthetic.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;

std::shared_ptr<const Dataset> small_set(std::int64_t size) {
  return make_synthetic({{3, 8, 8}, 7, size, 0}, RandomKey(3), Split::train);
}

std::vector<Batch> take(Loader& loader, int count) {
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) batches.push_back(loader.next());
  return batches;
}

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_TRUE(a.pixels == b.pixels);
}

Loader make(std::int64_t size, LoaderOptions options) {
  return {small_set(size), training_augmentation("synthetic", 0), options};
}

// A dataset whose every sample knows its number, and that fails or dawdles where asked.
class Numbered final : public Dataset {
 public:
  Numbered(std::int64_t size, std::int64_t broken) : size_(size), broken_(broken) {}
  std::int64_t size() const override { return size_; }
  int classes() const override { return static_cast<int>(size_); }
  int label(std::int64_t index) const override { return static_cast<int>(index); }
  Image image(std::int64_t index) const override {
    if (index == broken_) throw Error(ErrorCode::data, "sample is broken");
    if (index % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    ++decoded;
    return {{1, 1, 1}, {static_cast<std::uint8_t>(index)}};
  }
  mutable std::atomic<int> decoded = 0;

 private:
  std::int64_t size_;
  std::int64_t broken_;
};

TEST(LoaderTest, BatchesLargerThanMemoryAreRefusedInWords) {
  const auto dataset =
      make_synthetic({{3, 256, 256}, 7, 1'000'000'000, 0}, RandomKey(3), Split::train);
  expect_error([&] { Loader(dataset, {}, {.batch_size = 1'000'000'000, .prefetch = 4}); },
               ErrorCode::memory,
               {"4 batches of 1000000000 pictures of 256 x 256", "needs 3.15 PB", "batch_size"});
}

TEST(LoaderTest, ABatchMayBeLargerThanTheDataset) {
  Loader loader = make(5, {.batch_size = 65'536});
  EXPECT_EQ(loader.steps_per_epoch(), 1);
  EXPECT_EQ(loader.next().count(), 5);
}

TEST(LoaderTest, TheStreamIsTheSameForAnyNumberOfWorkers) {
  Loader alone = make(50, {.batch_size = 8, .seed = 5, .workers = 0});
  const std::vector<Batch> expected = take(alone, 20);
  for (int workers : {1, 2, 5}) {
    for (int prefetch : {1, 4}) {
      Loader loader =
          make(50, {.batch_size = 8, .seed = 5, .workers = workers, .prefetch = prefetch});
      const std::vector<Batch> found = take(loader, 20);
      for (std::size_t i = 0; i < expected.size(); ++i) expect_same(found[i], expected[i]);
    }
  }
}

TEST(LoaderTest, TheStreamCanBeEnteredAtAnyStep) {
  Loader whole = make(50, {.batch_size = 8, .seed = 5});
  const std::vector<Batch> expected = take(whole, 24);
  for (std::int64_t first : {1, 6, 7, 8, 20}) {
    Loader loader = make(50, {.batch_size = 8, .seed = 5, .workers = 2, .first_step = first});
    for (std::size_t i = static_cast<std::size_t>(first); i < 24; ++i) {
      expect_same(loader.next(), expected[i]);
    }
  }
}

TEST(LoaderTest, AnEpochHoldsEverySampleOnceInAnOrderOfItsOwn) {
  const auto dataset = std::make_shared<Numbered>(20, -1);
  Loader loader(dataset, {}, {.batch_size = 6, .workers = 2});
  ASSERT_EQ(loader.steps_per_epoch(), 4);
  std::set<std::vector<std::int64_t>> orders;
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::vector<std::int64_t> order;
    for (std::int64_t count : {6, 6, 6, 2}) {
      const Batch batch = loader.next();
      EXPECT_EQ(batch.count(), count);
      order.insert(order.end(), batch.labels.begin(), batch.labels.end());
    }
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(orders.size(), 5u);
}

TEST(LoaderTest, DropLeavesTheRestOfAnEpochOut) {
  Loader loader(std::make_shared<Numbered>(20, -1), {},
                {.batch_size = 6, .last_batch = LastBatch::drop});
  EXPECT_EQ(loader.steps_per_epoch(), 3);
  for (const Batch& batch : take(loader, 7)) EXPECT_EQ(batch.count(), 6);
}

TEST(LoaderTest, SequentialKeepsTheOrder) {
  Loader loader(std::make_shared<Numbered>(5, -1), {},
                {.batch_size = 2, .order = SampleOrder::sequential});
  EXPECT_EQ(loader.next().labels, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(loader.next().labels, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(loader.next().labels, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(loader.next().labels, (std::vector<std::int64_t>{0, 1}));
}

TEST(LoaderTest, SamplesAreAugmentedAnewEveryEpoch) {
  Loader loader = make(1, {.batch_size = 1});
  std::set<std::vector<float>> versions;
  for (const Batch& batch : take(loader, 20)) versions.insert(batch.pixels);
  EXPECT_GT(versions.size(), 10u);
}

TEST(LoaderTest, ErrorsComeWhenTheirBatchIsDueAndStay) {
  for (int workers : {0, 1, 3}) {
    Loader loader(std::make_shared<Numbered>(12, 7), {},
                  {.batch_size = 2, .order = SampleOrder::sequential, .workers = workers});
    take(loader, 3);
    for (int again = 0; again < 2; ++again) {
      expect_error([&] { loader.next(); }, ErrorCode::data, {"sample is broken"});
    }
  }
}

TEST(LoaderTest, WorkersStayWithinThePrefetch) {
  const auto dataset = std::make_shared<Numbered>(1000, -1);
  Loader loader(dataset, {}, {.batch_size = 5, .workers = 2, .prefetch = 3});
  loader.next();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(dataset->decoded, 1 + 5 * (1 + 3));  // one more to learn the shape
}

TEST(LoaderTest, StopsAtAnyTime) {
  for (int i = 0; i < 30; ++i) {
    Loader loader(std::make_shared<Numbered>(40, -1), {}, {.batch_size = 3, .workers = 3});
    take(loader, i % 4);
  }
}

TEST(LoaderTest, HandedBackMemoryIsUsedAgain) {
  Loader loader = make(64, {.batch_size = 64, .workers = 1, .prefetch = 1});
  std::set<const float*> addresses;
  Batch batch;
  for (int i = 0; i < 50; ++i) {
    batch = loader.next(std::move(batch));
    addresses.insert(batch.pixels.data());
  }
  EXPECT_LE(addresses.size(), 3u);
}

TEST(LoaderTest, ImpossibleRequestsAreErrors) {
  expect_error([] { make(0, {}); }, ErrorCode::data, {"no samples"});
  expect_error([] { make(5, {.batch_size = 0}); }, ErrorCode::usage, {"batch size", "found 0"});
  expect_error([] { make(5, {.batch_size = 6, .last_batch = LastBatch::drop}); }, ErrorCode::data,
               {"5 samples", "batch of 6"});
}

class Growing final : public Dataset {
 public:
  std::int64_t size() const override { return 3; }
  int classes() const override { return 1; }
  int label(std::int64_t) const override { return 0; }
  Image image(std::int64_t index) const override {
    const int side = static_cast<int>(index) + 1;
    return {{1, side, side}, std::vector<std::uint8_t>(static_cast<std::size_t>(side * side))};
  }
};

TEST(LoaderTest, PicturesOfDifferentSizesNeedACrop) {
  const LoaderOptions options{.batch_size = 3, .order = SampleOrder::sequential, .workers = 0};
  Loader plain(std::make_shared<Growing>(), {}, options);
  expect_error([&] { plain.next(); }, ErrorCode::data, {"sample 1 is 2 x 2 x 1", "1 x 1 x 1"});
  Loader cropped(std::make_shared<Growing>(), {.crop = Crop::center, .size = 2}, options);
  EXPECT_EQ(cropped.next().shape, (ImageShape{1, 2, 2}));
}

}  // namespace
}  // namespace bitcycle
