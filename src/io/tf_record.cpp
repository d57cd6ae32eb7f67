#include "bitcycle/io/tf_record.h"

#include <array>
#include <bit>

namespace bitcycle {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1EDC6F41, its bits reversed
constexpr std::uint32_t kMask = 0xa282ead8;

// What the CRC makes of each byte.
constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}();

template <typename Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> 8 * i);
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  return little_endian(std::rotr(crc32c(bytes), 15) + kMask);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xff];
  return ~crc;
}

std::string tf_record(std::string_view data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  return length + masked_crc(length) + std::string(data) + masked_crc(data);
}

}  // namespace bitcycle
