#include "bitcycle/io/file.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::size_t entries(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

TEST(FileTest, ReadsBackWhatWasWrittenAndLeavesNothingElse) {
  const TemporaryDirectory directory;
  const std::string text("some\0bytes\xff", 11);
  for (const std::string& content : {text, std::string(), std::string(100000, 'x')}) {
    write_file(directory / "a", content);
    EXPECT_EQ(text_of(read_file(directory / "a")), content);
  }
  EXPECT_EQ(entries(directory.path()), 1U);
}

TEST(FileTest, TemporariesOfAKilledWriterGoAndNothingElseDoes) {
  const TemporaryDirectory directory;
  const std::vector<std::string> kept = {
      "recipe.toml", ".lock",     ".notes.tmp", "a.1-2.tmp",    ".a.1-2.tmp.saved",
      ".a.12.tmp",   ".a.-2.tmp", ".a.1-.tmp",  ".a.1-2-3.tmp", ".a.1-2x.tmp"};
  for (const std::string& name : kept) write_file(directory / name, "kept");
  for (const char* name : {".recipe.toml.4711-0.tmp", ".best.1-12.tmp"}) {
    write_file(directory / name, "half");
  }
  remove_temporaries(directory.path());
  EXPECT_EQ(entries(directory.path()), kept.size());
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(directory / name)) << name;
}

TEST(FileTest, ReadsFilesWhoseSizeTheSystemDoesNotTell) {
  EXPECT_THAT(text_of(read_file("/proc/self/status")), HasSubstr("Name:"));
}

TEST(FileTest, WaitsForNoWriterOfAPipe) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {directory / "pipe", fs::path("/dev/zero")}) {
    const Error error = error_of([&] { read_regular_file(path, ErrorCode::recipe); });
    EXPECT_EQ(error.code(), ErrorCode::recipe);
    EXPECT_EQ(error.what(), "cannot read " + path.string() + ": it is not a regular file");
  }
}

TEST(FileTest, NamesTheMissingFileWithTheGivenCode) {
  const Error error = error_of([] { read_file("/nowhere/x.bin", ErrorCode::data); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "cannot read /nowhere/x.bin: No such file or directory");
  EXPECT_NE(error.hint(), "");
}

TEST(FileTest, SaysThatADirectoryIsNoFile) {
  const TemporaryDirectory directory;
  EXPECT_THAT(error_of([&] { read_file(directory.path()); }).what(), HasSubstr("Is a directory"));
  const Error error = error_of([&] { write_file(directory.path(), "x"); });
  EXPECT_THAT(error.what(), HasSubstr("Is a directory"));
  EXPECT_THAT(error.hint(), HasSubstr("name a file in it"));
}

TEST(FileTest, RefusesToReplaceADevice) {
  const Error error = error_of([] { write_file("/dev/full", "x"); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(FileTest, UnwritablePlaceIsAnIoErrorThatNamesTheTarget) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "x");
  const fs::path below = directory / "file" / "y";  // bites even for root
  const Error error = error_of([&] { write_file(below, "y"); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(error.what(), "cannot write " + below.string() + ": Not a directory");
}

TEST(FileTest, FullDiskLeavesTheOldContentAndNoTemporary) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "old");
  {
    const FileSizeLimit limit(10);
    const Error error = error_of([&] { write_file(directory / "a", std::string(11, 'n')); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("File too large"));
  }
  EXPECT_EQ(text_of(read_file(directory / "a")), "old");
  EXPECT_EQ(entries(directory.path()), 1U);
}

TEST(FileTest, ReadersSeeWholeVersionsWhileWritersReplaceThem) {
  const TemporaryDirectory directory;
  const auto version = [](int i) { return std::string(4096, static_cast<char>('a' + i)); };
  write_file(directory / "a", version(0));
  std::vector<std::jthread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) write_file(directory / "a", version(i));
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::string seen = text_of(read_file(directory / "a"));
    ASSERT_EQ(seen, std::string(4096, seen.at(0)));
  }
}

}  // namespace
}  // namespace bitcycle
