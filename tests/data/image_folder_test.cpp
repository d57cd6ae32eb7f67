#include "data/image_folder.h"

#include "data/checksum.h"
#include "data/pictures.h"
#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::write;

class ImageFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    add("train/dog/2.jpg", 20);
    add("train/dog/deeper/1.JPEG", 10);
    add("train/cat/b.jpg", 40);
    add("train/cat/a.jpeg", 30);
    add("val/dog/v.jpg", 50);
  }
  void add(const std::string& name, std::uint8_t grey) {
    write(root_.path() / name, test::flat_jpeg(8, 8, {grey}));
  }
  std::shared_ptr<const Dataset> open(const std::string& part) const {
    return open_image_folder(root_.path(), part);
  }

  TemporaryDirectory root_;
};

TEST_F(ImageFolderTest, ClassesAndFilesAreSorted) {
  write(root_.path() / "train/cat/notes.txt", "not a picture");
  write(root_.path() / "train/cat/.hidden.jpg", "not a picture");
  const auto dataset = open("train");
  ASSERT_EQ(dataset->size(), 4);
  EXPECT_EQ(dataset->classes(), 2);
  const std::vector<int> greys = {30, 40, 20, 10};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(dataset->label(i), i / 2);
    EXPECT_NEAR(dataset->image(i).pixels[0], greys[static_cast<std::size_t>(i)], 2);
  }
}

TEST_F(ImageFolderTest, ValidationUsesTheNumbersOfTrain) {
  const auto dataset = open("val");
  ASSERT_EQ(dataset->size(), 1);
  EXPECT_EQ(dataset->classes(), 2);
  EXPECT_EQ(dataset->label(0), 1);
}

TEST_F(ImageFolderTest, UnknownClassesAreNamed) {
  add("val/dot/x.jpg", 1);
  expect_error([&] { open("val"); }, ErrorCode::data,
               {"val/dot", "2 classes", "Did you mean \"dog\"?"});
}

TEST_F(ImageFolderTest, MissingPartsAreNamed) {
  fs::remove_all(root_.path() / "val/dog");
  expect_error([&] { open("val"); }, ErrorCode::data, {"val has no class directories"});
  fs::remove_all(root_.path() / "val");
  expect_error([&] { open("val"); }, ErrorCode::data, {"val is not a directory", "val/<class>"});
  fs::create_directories(root_.path() / "train/emu");
  expect_error([&] { open("train"); }, ErrorCode::data, {"train/emu has no JPEG pictures"});
}

TEST_F(ImageFolderTest, PicturesOfOtherKindsAreRefused) {
  write(root_.path() / "train/cat/c.PNG", "x");
  expect_error([&] { open("train"); }, ErrorCode::data, {"c.PNG is not a JPEG file", "convert"});
}

TEST_F(ImageFolderTest, DamagedPicturesAreNamedWhenRead) {
  const test::Bytes whole = test::noisy_jpeg(32, 32);
  write(root_.path() / "train/cat/a.jpeg", test::Bytes(whole.begin(), whole.end() - 200));
  const auto dataset = open("train");
  EXPECT_NO_THROW(dataset->image(1));
  expect_error([&] { dataset->image(0); }, ErrorCode::data, {"train/cat/a.jpeg is damaged"});
}

TEST_F(ImageFolderTest, ListedSumsFindEveryFlippedBit) {
  const test::Bytes picture = test::noisy_jpeg(32, 32);
  write(root_.path() / "train/cat/a.jpeg", picture);
  write(root_.path() / "MD5SUMS", md5(picture) + "  train/cat/a.jpeg\n");
  EXPECT_NO_THROW(open("train")->image(0));
  test::Bytes flipped = picture;
  flipped[flipped.size() / 2] ^= std::byte{1};
  write(root_.path() / "train/cat/a.jpeg", flipped);
  expect_error([&] { open("train")->image(0); }, ErrorCode::data, {"a.jpeg is damaged", "MD5"});
}

}  // namespace
}  // namespace bitcycle
