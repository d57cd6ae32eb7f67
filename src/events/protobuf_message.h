#pragma once

// A protobuf message as bytes, field by field: a tag (field number and wire type, as a varint),
// then the value. https://protobuf.dev/programming-guides/encoding

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

class ProtobufMessage {
 public:
  void add(int field, std::int64_t value) {
    add_tag(field, 0);
    add_varint(static_cast<std::uint64_t>(value));
  }
  void add(int field, double value) {
    add_tag(field, 1);
    add_fixed(std::bit_cast<std::uint64_t>(value));
  }
  void add(int field, float value) {
    add_tag(field, 5);
    add_fixed(std::bit_cast<std::uint32_t>(value));
  }
  void add(int field, std::string_view bytes) {
    add_tag(field, 2);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  void add(int field, const ProtobufMessage& message) {
    add(field, std::string_view(message.bytes_));
  }
  // A repeated field, packed.
  void add(int field, const std::vector<double>& values) {
    ProtobufMessage packed;
    for (const double value : values) packed.add_fixed(std::bit_cast<std::uint64_t>(value));
    add(field, packed);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void add_tag(int field, int wire_type) {
    add_varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire_type));
  }
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <typename Number>
  void add_fixed(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes_ += static_cast<char>(value >> 8 * i);
  }

  std::string bytes_;
};

}  // namespace bitcycle
