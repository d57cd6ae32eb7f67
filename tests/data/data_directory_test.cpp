#include "data/data_directory.h"

#include "data/support.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;
using test::write;

// MD5 of "hello\n", by md5sum(1).
constexpr const char* kHello = "b1946ac92492d2347c6235b4d2611184";

std::string text(const DataDirectory::File& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

class DataDirectoryTest : public testing::Test {
 protected:
  DataDirectory open() const { return {root_.path(), {{"hello", 6, kHello}}, "Get it from X."}; }
  void read(const std::string& name) const { open().read(name); }

  TemporaryDirectory root_;
};

TEST(ChecksumTest, Md5OfRfc1321) {
  EXPECT_EQ(md5({}), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5(std::as_bytes(std::span("abc", 3))), "900150983cd24fb0d6963f7d28e17f72");
}

TEST(ChecksumTest, ReadsWhatMd5sumWrites) {
  const Checksums sums = parse_checksums(
      "b1946ac92492d2347c6235b4d2611184  a b.bin\n"
      "D41D8CD98F00B204E9800998ECF8427E *./train/x.jpg",
      "MD5SUMS");
  EXPECT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums.at("a b.bin"), kHello);
  EXPECT_EQ(sums.at("train/x.jpg"), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(ChecksumTest, OtherLinesAreNamed) {
  for (const std::string bad : {"b1946ac92492d2347c6235b4d261118  x", "zz", kHello}) {
    expect_error([&] { parse_checksums("\n" + bad + "\n", "MD5SUMS"); }, ErrorCode::data,
                 {"MD5SUMS:2:", bad});
  }
}

TEST_F(DataDirectoryTest, OfficialFilesAreChecked) {
  write(root_.path() / "hello", "hello\n");
  EXPECT_EQ(text(open().read("hello")), "hello\n");
  write(root_.path() / "hello", "jello\n");
  expect_error([&] { read("hello"); }, ErrorCode::data,
               {"hello is damaged", kHello, "Get it from X.", "md5sum * > MD5SUMS"});
  write(root_.path() / "hello", "hell");
  expect_error([&] { read("hello"); }, ErrorCode::data, {"expected 6 bytes", "found 4"});
}

TEST_F(DataDirectoryTest, MissingFilesSayHowToGetThem) {
  expect_error([&] { read("hello"); }, ErrorCode::data, {"hello is missing", "Get it from X."});
}

TEST_F(DataDirectoryTest, OwnSumsTakeThePlaceOfOfficialOnes) {
  write(root_.path() / "hello", "my own data");
  write(root_.path() / kChecksumFile, md5(std::as_bytes(std::span("my own data", 11))) + "  hello");
  EXPECT_EQ(text(open().read("hello")), "my own data");
  write(root_.path() / "hello", "my 0wn data");
  expect_error([&] { read("hello"); }, ErrorCode::data, {"hello is damaged", "MD5SUMS"});
  write(root_.path() / "other", "x");
  expect_error([&] { read("other"); }, ErrorCode::data, {"other is not listed in"});
}

TEST_F(DataDirectoryTest, FilesMayBeZipped) {
  const std::string path = root_.path() / "hello";
  write(path, "hello\n");
  ASSERT_EQ(std::system(("gzip " + path).c_str()), 0);
  const DataDirectory::File file = open().read("hello");
  EXPECT_EQ(text(file), "hello\n");
  EXPECT_THAT(file.origin, testing::EndsWith("hello.gz"));
}

TEST_F(DataDirectoryTest, ZippedFilesAreExpandedNoFurtherThanExpected) {
  const std::string path = root_.path() / "hello";
  write(path, std::string(1 << 20, 'h'));
  ASSERT_EQ(std::system(("gzip " + path).c_str()), 0);
  expect_error([&] { read("hello"); }, ErrorCode::data,
               {"hello.gz is damaged", "at most 6 bytes", "more"});
}

TEST_F(DataDirectoryTest, OfficialFilesOfAnotherSizeAreNotRead) {
  write(root_.path() / "hello", "hello\n");
  std::filesystem::resize_file(root_.path() / "hello", std::uintmax_t{1} << 42);  // sparse
  expect_error([&] { read("hello"); }, ErrorCode::data,
               {"expected 6 bytes", "found 4398046511104"});
}

TEST_F(DataDirectoryTest, FilesLargerThanMemoryAreNotRead) {
  write(root_.path() / "own", "x");
  std::filesystem::resize_file(root_.path() / "own", std::uintmax_t{1} << 42);
  expect_error([&] { read("own"); }, ErrorCode::memory,
               {(root_.path() / "own").string(), "needs 4.40 TB of memory"});
}

}  // namespace
}  // namespace bitcycle
