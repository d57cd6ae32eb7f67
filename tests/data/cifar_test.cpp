#include "data/cifar.h"

#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::Bytes;
using test::expect_error;

// A record whose red, green and blue planes count up from 0, 85 and 170.
Bytes record(const std::vector<int>& labels) {
  Bytes bytes = test::to_bytes(labels);
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::byte>(85 * c + i));
  }
  return bytes;
}

PackedImages decode(const Bytes& bytes, CifarKind kind) {
  PackedImages images = empty_cifar(kind);
  append_cifar(bytes, kind, "batch.bin", images);
  return images;
}

TEST(CifarTest, PlanesBecomePixels) {
  const MemoryDataset dataset(decode(record({7}), CifarKind::cifar10));
  ASSERT_EQ(dataset.size(), 1);
  EXPECT_EQ(dataset.label(0), 7);
  EXPECT_EQ(dataset.classes(), 10);
  const Image image = dataset.image(0);
  EXPECT_EQ(image.shape, (ImageShape{3, 32, 32}));
  for (std::size_t i = 0; i < 1024; ++i) {
    EXPECT_EQ(image.pixels[3 * i], i % 256);
    EXPECT_EQ(image.pixels[3 * i + 1], (85 + i) % 256);
    EXPECT_EQ(image.pixels[3 * i + 2], (170 + i) % 256);
  }
}

TEST(CifarTest, Cifar100TakesTheFineLabel) {
  const MemoryDataset dataset(decode(record({19, 99}), CifarKind::cifar100));
  EXPECT_EQ(dataset.label(0), 99);
  EXPECT_EQ(dataset.classes(), 100);
}

TEST(CifarTest, FilesFollowEachOther) {
  PackedImages images = empty_cifar(CifarKind::cifar10);
  append_cifar(record({1}), CifarKind::cifar10, "a", images);
  append_cifar(record({2}), CifarKind::cifar10, "b", images);
  const MemoryDataset dataset(std::move(images));
  ASSERT_EQ(dataset.size(), 2);
  EXPECT_EQ(dataset.label(1), 2);
  EXPECT_EQ(dataset.image(1).pixels, dataset.image(0).pixels);
}

TEST(CifarTest, PartsOfRecordsAreDamage) {
  Bytes bytes = record({7});
  bytes.pop_back();
  expect_error([&] { decode(bytes, CifarKind::cifar10); }, ErrorCode::data,
               {"batch.bin is damaged", "records of 3073 bytes", "0 records and 3072 bytes"});
  bytes.resize(3075);
  expect_error([&] { decode(bytes, CifarKind::cifar10); }, ErrorCode::data,
               {"1 records and 2 bytes"});
}

TEST(CifarTest, LabelsBeyondTheClassesAreDamage) {
  expect_error([] { decode(record({10}), CifarKind::cifar10); }, ErrorCode::data,
               {"labels from 0 to 9", "10 in record 0"});
  expect_error(
      [] {
        decode(record({0, 100}), CifarKind::cifar100);
      },
      ErrorCode::data, {"labels from 0 to 99"});
  expect_error(
      [] {
        decode(record({20, 0}), CifarKind::cifar100);
      },
      ErrorCode::data, {"superclasses from 0 to 19"});
}

}  // namespace
}  // namespace bitcycle
