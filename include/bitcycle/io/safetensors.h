#pragma once

// The safetensors file format: an 8-byte little-endian header length, a JSON header, and the bytes
// of the tensors without holes. Readable from Python without Bitcycle.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

enum class DataType { f64, f32, f16, bf16, i64, i32, u8 };
std::size_t size_of(DataType type);
std::string_view name_of(DataType type);  // as in the file, e.g. "F32"

struct TensorBytes {
  DataType type = DataType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // row-major, little-endian

  bool operator==(const TensorBytes&) const = default;
};

struct TensorFile {
  std::map<std::string, TensorBytes> tensors;
  std::map<std::string, std::string> metadata;
  // Tensors of types that are not read, and their types: of no harm until somebody asks for them.
  std::map<std::string, std::string> unread;

  bool operator==(const TensorFile&) const = default;
};

// What is unread is not written. The same content always gives the same bytes (tensors in name
// order, header padded to 8 bytes).
std::vector<std::byte> encode_safetensors(const TensorFile& file);
// Throws Error(checkpoint) that names `origin` and says what is wrong; never reads out of bounds.
TensorFile decode_safetensors(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace bitcycle
