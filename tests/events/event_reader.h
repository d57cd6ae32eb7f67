#pragma once

// Reads TensorBoard's event files, written from the description of the formats alone and sharing
// nothing with the writer: TFRecord framing with CRCs that are computed bit by bit, protobuf's wire
// format, and the fields of event.proto, summary.proto, histogram.proto and tensor.proto.

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle::event_reader {

// CRC-32C as polynomial division, a bit at a time, highest power first: bits of a byte come in
// reflected, and so does the remainder go out.
inline std::uint32_t bitwise_crc32c(std::string_view bytes) {
  std::uint32_t remainder = 0xffffffff;
  for (const char byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool in = (static_cast<unsigned char>(byte) >> bit & 1) != 0;
      const bool out = (remainder >> 31) != 0;
      remainder <<= 1;
      if (in != out) remainder ^= 0x1edc6f41;
    }
  }
  std::uint32_t reflected = 0;
  for (int bit = 0; bit < 32; ++bit) reflected |= (remainder >> bit & 1) << (31 - bit);
  return reflected ^ 0xffffffff;
}

inline std::uint32_t unmasked(std::uint32_t masked) {
  const std::uint32_t rotated = masked - 0xa282ead8;
  return rotated << 15 | rotated >> 17;
}

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  if (at + sizeof(Number) > bytes.size()) throw std::runtime_error("the bytes end too early");
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);  // on a little-endian machine
  return number;
}

// The data of each record. Throws at the first that is not whole or has a wrong CRC.
inline std::vector<std::string> records(std::string_view file) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = number_at<std::uint64_t>(file, at);
    if (unmasked(number_at<std::uint32_t>(file, at + 8)) != bitwise_crc32c(file.substr(at, 8))) {
      throw std::runtime_error("the CRC of a length is wrong");
    }
    const std::string_view data = file.substr(at + 12, length);
    if (unmasked(number_at<std::uint32_t>(file, at + 12 + length)) != bitwise_crc32c(data)) {
      throw std::runtime_error("the CRC of a record is wrong");
    }
    found.emplace_back(data);
    at += 16 + length;
  }
  return found;
}

// One message: the values of each field as bytes, in their order.
struct Message {
  struct Field {
    int wire_type;
    std::uint64_t varint;
    std::string bytes;
  };
  std::map<int, std::vector<Field>> fields;

  explicit Message(std::string_view text) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = number_at<std::uint8_t>(text, at++);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < text.size()) {
      const std::uint64_t tag = varint();
      Field field{static_cast<int>(tag & 7), 0, ""};
      if (field.wire_type == 0) {
        field.varint = varint();
      } else {
        const std::uint64_t size = field.wire_type == 1 ? 8 : field.wire_type == 5 ? 4 : varint();
        if (at + size > text.size()) throw std::runtime_error("a field ends too early");
        field.bytes = text.substr(at, size);
        at += size;
      }
      fields[static_cast<int>(tag >> 3)].push_back(field);
    }
  }
  bool has(int field) const { return fields.count(field) != 0; }
  const Field& at(int field) const { return fields.at(field).front(); }
  Message message(int field) const { return Message(at(field).bytes); }
  double real(int field) const { return number_at<double>(at(field).bytes, 0); }
  std::vector<double> packed(int field) const {
    std::vector<double> values;
    const std::string& bytes = at(field).bytes;
    for (std::size_t i = 0; i < bytes.size(); i += 8) values.push_back(number_at<double>(bytes, i));
    return values;
  }
};

struct Histogram {
  double min, max, num, sum, sum_squares;
  std::vector<double> limits, buckets;
};

struct Event {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
  std::map<std::string, Histogram> histograms;
  std::map<std::string, std::string> texts;
};

inline void read_value(const Message& value, Event& event) {
  const std::string& tag = value.at(1).bytes;
  if (value.has(2)) event.scalars[tag] = number_at<float>(value.at(2).bytes, 0);
  if (value.has(5)) {
    const Message h = value.message(5);
    event.histograms[tag] = {h.real(1), h.real(2),   h.real(3),  h.real(4),
                             h.real(5), h.packed(6), h.packed(7)};
  }
  if (!value.has(8)) return;
  const Message tensor = value.message(8);
  if (value.message(9).message(1).at(1).bytes != "text" || tensor.at(1).varint != 7 ||
      tensor.message(2).message(2).at(1).varint != 1) {
    throw std::runtime_error("expected one text for the plugin of texts");
  }
  event.texts[tag] = tensor.at(8).bytes;
}

inline std::vector<Event> events(std::string_view file) {
  std::vector<Event> found;
  for (const std::string& record : records(file)) {
    const Message message(record);
    Event event;
    event.wall_time = message.real(1);
    if (message.has(2)) event.step = static_cast<std::int64_t>(message.at(2).varint);
    if (message.has(3)) event.version = message.at(3).bytes;
    if (message.has(5)) {
      const Message summary = message.message(5);
      for (const auto& value : summary.fields.at(1)) {
        read_value(Message(value.bytes), event);
      }
    }
    found.push_back(event);
  }
  return found;
}

}  // namespace bitcycle::event_reader
