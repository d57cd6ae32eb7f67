#include "bitcycle/io/safetensors.h"

#include "bitcycle/base/random.h"

#include "io/io_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

TensorFile small_file() {
  TensorFile file;
  file.tensors["b"] = {DataType::u8, {3}, bytes_of("xyz")};
  file.tensors["a"] = {DataType::f16, {1, 2}, bytes_of("1234")};
  file.metadata["step"] = "64";
  return file;
}

// A file with the given JSON header, unpadded, and data.
std::vector<std::byte> assembled(const std::string& header, const std::string& data) {
  std::string text(8, '\0');
  for (int i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes_of(text + header + data);
}

std::string complaint(const std::vector<std::byte>& bytes) {
  const Error error = error_of([&] { decode_safetensors(bytes, "file.safetensors"); });
  EXPECT_EQ(error.code(), ErrorCode::checkpoint);
  EXPECT_THAT(error.what(), HasSubstr("file.safetensors is no valid safetensors file: "));
  EXPECT_NE(error.hint(), "");
  return error.what();
}

TEST(SafetensorsTest, EncodesToTheDocumentedBytes) {
  const std::string header =
      R"({"__metadata__":{"step":"64"},"a":{"data_offsets":[0,4],"dtype":"F16","shape":[1,2]},)"
      R"("b":{"data_offsets":[4,7],"dtype":"U8","shape":[3]}})";
  ASSERT_EQ(header.size(), 137U);
  const std::string length("\x90\0\0\0\0\0\0\0", 8);  // 144: padded to a multiple of 8
  EXPECT_EQ(text_of(encode_safetensors(small_file())), length + header + "       " + "1234xyz");
}

TEST(SafetensorsTest, DecodesWhatItEncodes) {
  EXPECT_EQ(decode_safetensors(encode_safetensors(small_file()), "x"), small_file());
  EXPECT_EQ(decode_safetensors(encode_safetensors({}), "x"), TensorFile());
}

TEST(SafetensorsTest, RandomFilesSurviveTheRoundTrip) {
  for (int round = 0; round < 200; ++round) {
    const RandomKey key = RandomKey(5).derive(round);
    TensorFile file;
    for (std::uint64_t i = 0; i < key.below(0, 6); ++i) {
      const RandomKey k = key.derive(i);
      TensorBytes tensor;
      tensor.type = static_cast<DataType>(k.below(0, 7));
      std::size_t bytes = size_of(tensor.type);
      for (std::uint64_t d = 0; d < k.below(1, 4); ++d) {
        tensor.shape.push_back(static_cast<std::int64_t>(k.below(2 + d, 5)));
        bytes *= static_cast<std::size_t>(tensor.shape.back());
      }
      for (std::size_t b = 0; b < bytes; ++b) tensor.bytes.push_back(std::byte(k.bits(10 + b)));
      file.tensors["layer." + std::to_string(k.below(9, 100)) + ".\"wäight\""] = tensor;
    }
    ASSERT_EQ(decode_safetensors(encode_safetensors(file), "x"), file);
  }
}

TEST(SafetensorsTest, AcceptsTensorsInAnyOrderAndEmptyOnes) {
  const auto bytes = assembled(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
                               R"("e":{"dtype":"F32","shape":[2,0],"data_offsets":[4,4]},)"
                               R"("a":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}  )",
                               "1234x");
  const TensorFile file = decode_safetensors(bytes, "x");
  EXPECT_EQ(text_of(file.tensors.at("a").bytes), "1234");
  EXPECT_EQ(text_of(file.tensors.at("b").bytes), "x");
  EXPECT_TRUE(file.tensors.at("e").bytes.empty());
}

TEST(SafetensorsTest, TensorsOfOtherTypesAreNamedAndTheOthersRead) {
  const auto bytes = assembled(R"({"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]},)"
                               R"("w":{"dtype":"BF16","shape":[2],"data_offsets":[3,7]},)"
                               R"("z":{"dtype":"F4","shape":[4],"data_offsets":[7,9]}})",
                               "\1\1\1abcd12");
  const TensorFile file = decode_safetensors(bytes, "x");
  EXPECT_EQ(file.tensors.size(), 1U);
  EXPECT_EQ(file.tensors.at("w").type, DataType::bf16);
  EXPECT_EQ(text_of(file.tensors.at("w").bytes), "abcd");
  EXPECT_EQ(file.unread, (std::map<std::string, std::string>{{"mask", "BOOL"}, {"z", "F4"}}));
}

TEST(SafetensorsTest, EveryTruncationIsNoticed) {
  const std::vector<std::byte> whole = encode_safetensors(small_file());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    complaint({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
  }
}

TEST(SafetensorsTest, TrailingBytesAreNoticed) {
  std::vector<std::byte> bytes = encode_safetensors(small_file());
  bytes.push_back(std::byte{0});
  EXPECT_THAT(complaint(bytes), HasSubstr("it has 8 bytes of data, but its tensors take 7"));
}

TEST(SafetensorsTest, FlippedBitsNeverCrash) {
  const std::vector<std::byte> whole = encode_safetensors(small_file());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::vector<std::byte> bytes = whole;
    bytes[bit / 8] ^= std::byte(1 << (bit % 8));
    try {
      decode_safetensors(bytes, "x");  // flips in the data or inside a name are still valid files
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::checkpoint);
    }
  }
}

struct Damage {
  const char* header;
  const char* data;
  const char* complaint;
};

TEST(SafetensorsTest, SaysWhatIsWrongWithAHeader) {
  const Damage damages[] = {
      {"", "", "no valid JSON"},
      {"{", "", "no valid JSON"},
      {"[]", "", "must be a JSON object"},
      {R"({"a":1})", "", "tensor \"a\" must be a JSON object"},
      {R"({"a":{"a":{"a":{"a":{}}}}})", "", "nested too deeply"},
      {R"({"__metadata__":{"a":1}})", "", "must map names to strings"},
      {R"({"__metadata__":[]})", "", "must map names to strings"},
      {R"({"a":{"dtype":"U8","shape":[1]}})", "x", "needs \"data_offsets\""},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", "x", "as [begin, end]"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", "x", "as [begin, end]"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,2]}})", "x", "from 0 to 1"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0.0,1.0]}})", "x", "whole numbers"},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", "x", "needs \"shape\""},
      {R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", "x", "needs \"shape\""},
      {R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", "x", "needs \"shape\""},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})", "x", "contradict"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,1]}})", "x", "contradict"},
      {R"({"a":{"shape":[1],"data_offsets":[0,1]}})", "x", "has no dtype"},
      {R"({"a":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})", "x", "has no dtype"},
      {R"({"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,4]}})", "wxyz", "contradict"},
      {R"({"a\nb":{"dtype":"BOOL","data_offsets":[0,1]}})", "x", R"(tensor "a\nb" needs "shape")"},
      {R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[1,2]}})", "xy", "expected 0"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
       "x", "\"a\" twice"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x",
       "\"dtype\" twice"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "xy",
       "starts at byte 1 of the data, expected 0"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       "xyz", "tensor \"b\" starts at byte 1 of the data, expected 2"},
      // 2^32 * 2^32 elements: the product wraps around to 0 in 64 bits.
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "",
       "contradict"},
  };
  for (const Damage& damage : damages) {
    EXPECT_THAT(complaint(assembled(damage.header, damage.data)), HasSubstr(damage.complaint))
        << damage.header;
  }
}

TEST(SafetensorsTest, RefusesAHeaderLongerThanTheFileOrTheLimit) {
  std::vector<std::byte> bytes = encode_safetensors(small_file());
  bytes[7] = std::byte{0xff};
  EXPECT_THAT(complaint(bytes), HasSubstr("but only 151 can be there"));
}

}  // namespace
}  // namespace bitcycle
