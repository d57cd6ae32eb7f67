#include "data/gzip.h"

#include "data/support.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace bitcycle {
namespace {

using test::Bytes;
using test::expect_error;

Bytes text(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * i / 7);
  return bytes;
}

// Compressed through zlib's own file interface.
Bytes zipped(const Bytes& bytes) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "x.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ifstream in(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const auto view = std::as_bytes(std::span(content));
  return {view.begin(), view.end()};
}

TEST(GzipTest, GivesBackWhatWasCompressed) {
  for (std::size_t size : {0, 1, 4096, 100'000}) {
    EXPECT_EQ(gunzip(zipped(text(size)), "x.gz", size), text(size)) << size;
  }
}

TEST(GzipTest, EveryCutIsFound) {
  const Bytes whole = zipped(text(300));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::span<const std::byte> cut = std::span(whole).first(size);
    expect_error([&] { gunzip(cut, "x.gz", 300); }, ErrorCode::data,
                 {"x.gz is damaged", "end of the file"});
  }
}

// What comes out is what went in, or an error: a few bits carry no information (the time and system
// in the header, the padding before a stored block).
TEST(GzipTest, NoFlippedBitChangesTheContentUnnoticed) {
  const Bytes whole = zipped(text(300));
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    try {
      EXPECT_EQ(gunzip(flipped, "x.gz", 300), text(300)) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data);
    }
  }
}

TEST(GzipTest, SaysHowLongItsContentIs) {
  for (std::size_t size : {0, 1, 70'000}) EXPECT_EQ(stated_size(zipped(text(size))), size);
  EXPECT_EQ(stated_size({}), 0u);
}

TEST(GzipTest, ContentIsExpandedNoFurtherThanExpected) {
  const Bytes bomb = zipped(Bytes(std::size_t{8} << 20));
  ASSERT_LT(bomb.size(), std::size_t{100'000});
  for (std::size_t longest : {std::size_t{0}, std::size_t{1000}, (std::size_t{8} << 20) - 1}) {
    expect_error([&] { gunzip(bomb, "x.gz", longest); }, ErrorCode::data,
                 {"x.gz is damaged", "at most " + std::to_string(longest) + " bytes"});
  }
  EXPECT_EQ(gunzip(bomb, "x.gz", std::size_t{8} << 20).size(), std::size_t{8} << 20);
}

// The last four bytes of what is left of a truncated file may state anything.
TEST(GzipTest, WithoutAnExpectationTheFormatsOwnChecksHold) {
  for (std::size_t size : {0, 1, 100'000}) {
    EXPECT_EQ(gunzip(zipped(text(size)), "x.gz"), text(size)) << size;
  }
  const Bytes zeros(std::size_t{8} << 20);
  EXPECT_EQ(gunzip(zipped(zeros), "x.gz"), zeros);
  Bytes cut = zipped(text(100'000));
  cut.resize(cut.size() / 2);
  std::fill(cut.end() - 4, cut.end(), std::byte{0xff});
  expect_error([&] { gunzip(cut, "x.gz"); }, ErrorCode::data, {"x.gz is damaged"});
  Bytes modest = zipped(text(300));
  modest[modest.size() - 3] = modest[modest.size() - 4] = std::byte{0};
  expect_error([&] { gunzip(modest, "x.gz"); }, ErrorCode::data, {"incorrect length check"});
}

// `cat a.gz b.gz` is a gzip file too, of which only the last length stands at the end.
TEST(GzipTest, FilesOneAfterTheOtherAreReadAll) {
  Bytes both = zipped(text(100'000));
  const Bytes more = zipped(text(300));
  both.insert(both.end(), more.begin(), more.end());
  Bytes expected = text(100'000);
  const Bytes end = text(300);
  expected.insert(expected.end(), end.begin(), end.end());
  EXPECT_EQ(gunzip(both, "x.gz"), expected);
  both.pop_back();
  expect_error([&] { gunzip(both, "x.gz"); }, ErrorCode::data, {"the rest of the gzip data"});
}

TEST(GzipTest, BytesAfterTheEndAreDamage) {
  Bytes longer = zipped(text(300));
  longer.push_back({});
  expect_error([&] { gunzip(longer, "x.gz", 300); }, ErrorCode::data, {"found 1 bytes more"});
}

}  // namespace
}  // namespace bitcycle
