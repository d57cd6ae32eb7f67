#include "bitcycle/data/part.h"

#include "bitcycle/base/error.h"
#include "bitcycle/data/catalog.h"

#include "data/memory_dataset.h"
#include "data/subset.h"
#include "data/support.h"

#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;
using Indices = std::vector<std::int64_t>;

std::shared_ptr<const Dataset> labelled(std::vector<std::int32_t> labels) {
  PackedImages images{{1, 1, 1}, 10, {}, {}};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(i));
  }
  images.labels.assign(labels.begin(), labels.end());
  return std::make_shared<MemoryDataset>(std::move(images));
}

DatasetOptions synthetic(const std::string& part, std::int64_t size = 1000) {
  return {.name = "synthetic", .part = parse_part(part), .synthetic = {.train_size = size}};
}

std::string pixels(const Dataset& dataset, std::int64_t index) {
  const Image image = dataset.image(index);
  return {image.pixels.begin(), image.pixels.end()};
}

TEST(PartTest, ReadsItsNumberAndHowManyThereAre) {
  EXPECT_EQ(parse_part("3/7").number, 3);
  EXPECT_EQ(parse_part("3/7").of, 7);
  EXPECT_TRUE(parse_part("1/1").whole());
  EXPECT_EQ(to_text(parse_part("3/7")), "3/7");
}

TEST(PartTest, WhatIsNoPartIsSaidInWords) {
  const auto expect = [](const char* text, const char* said) {
    expect_error([&] { parse_part(text); }, ErrorCode::usage,
                 {said, "found \"" + std::string(text) + "\"", "\"1/2\" is the first"});
  };
  for (const char* text : {"x", "", "1", "1/", "/2", "1/2/3", "1 / 2", "1.5/2", "-1/2", "1/-2",
                           "99999999999999999999/2"}) {
    expect(text, "expected a part such as \"1/2\"");
  }
  expect("0/2", "expected one of the parts 1 to 2 of 2");
  expect("3/2", "expected one of the parts 1 to 2 of 2");
  expect("2/1", "expected part 1 of 1");
  expect("0/0", "expected from 1 to 1000000 parts");
  expect("1/1000001", "expected from 1 to 1000000 parts");
}

TEST(PartTest, PartsFollowOneAnotherAndDifferByOneAtMost) {
  for (const std::int64_t count : {0L, 1L, 5L, 1000L, std::numeric_limits<long>::max()}) {
    for (const std::int64_t of : {1, 2, 3, 7, 1'000'000}) {
      EXPECT_EQ((Part{1, of}.begin(count)), 0);
      EXPECT_EQ((Part{of, of}.end(count)), count);
      for (const std::int64_t number : {std::int64_t{1}, of / 2 + 1, of}) {
        const Part part{number, of};
        const std::int64_t size = part.end(count) - part.begin(count);
        EXPECT_TRUE(size == count / of || size == count / of + 1) << size << " of " << count;
        EXPECT_EQ(part.end(count), (Part{number + 1, of}.begin(count)));
      }
    }
  }
}

TEST(PartTest, EveryClassGivesItsShareInTheOrderOfTheFile) {
  const auto dataset = labelled({0, 1, 0, 0, 1, 2, 0, 2});
  EXPECT_EQ(part_indices(*dataset, {1, 2}), (Indices{0, 1, 2, 5}));
  EXPECT_EQ(part_indices(*dataset, {2, 2}), (Indices{3, 4, 6, 7}));
  EXPECT_EQ(part_indices(*dataset, {1, 1}), (Indices{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PartTest, TogetherThePartsAreTheTrainingSetAndEachIsBalanced) {
  const auto whole = open_dataset(synthetic("1/1"));
  std::map<int, int> all;
  for (std::int64_t i = 0; i < whole->size(); ++i) ++all[whole->label(i)];
  std::int64_t size = 0;
  std::set<std::string> pictures;
  for (const char* text : {"1/3", "2/3", "3/3"}) {
    const auto part = open_dataset(synthetic(text));
    size += part->size();
    std::map<int, int> counts;
    for (std::int64_t i = 0; i < part->size(); ++i) {
      ++counts[part->label(i)];
      pictures.insert(pixels(*part, i));
    }
    for (const auto& [label, count] : counts) EXPECT_NEAR(count, all[label] / 3.0, 1.0);
  }
  EXPECT_EQ(size, whole->size());
  EXPECT_EQ(pictures.size(), static_cast<std::size_t>(whole->size()));
}

TEST(PartTest, ValidationAndLimitAreTakenFromThePart) {
  DatasetOptions options = synthetic("2/2");
  options.validation = 0.1;
  const TrainingSets sets = open_training_sets(options);
  const auto half = open_dataset(synthetic("2/2"));
  EXPECT_EQ(sets.train->size() + sets.validation->size(), half->size());
  std::set<std::string> pictures;
  for (std::int64_t i = 0; i < half->size(); ++i) pictures.insert(pixels(*half, i));
  for (std::int64_t i = 0; i < sets.validation->size(); ++i) {
    EXPECT_TRUE(pictures.contains(pixels(*sets.validation, i)));
  }
  options.limit = 20;
  EXPECT_EQ(open_training_sets(options).train->size(), 20);
}

TEST(PartTest, TheTestSetIsWholeAndThePartHasAFingerprintOfItsOwn) {
  DatasetOptions options = synthetic("1/2");
  const auto print = [&](const char* part) { return open_dataset(synthetic(part))->fingerprint(); };
  EXPECT_NE(print("1/2"), print("2/2"));
  EXPECT_NE(print("1/2"), print("1/1"));
  options.split = Split::test;
  EXPECT_EQ(open_dataset(options)->size(), 10'000);
}

TEST(PartTest, APartWithoutSamplesIsAnError) {
  expect_error([] { open_dataset(synthetic("1/1000", 20)); }, ErrorCode::data,
               {"data.part = \"1/1000\"", "synthetic has 20 samples", "fewer parts"});
  DatasetOptions few = synthetic("2/2", 12);
  few.validation = 0.95;
  expect_error([&] { open_training_sets(few); }, ErrorCode::data,
               {"part 2/2 of the training set of synthetic has", "none is left to train on"});
}

}  // namespace
}  // namespace bitcycle
