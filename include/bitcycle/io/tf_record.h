#pragma once

// The framing of TensorFlow's record files, of which TensorBoard's event files are some:
//
//   length (8 bytes)  masked CRC of these  data  masked CRC of the data
//
// Numbers are little-endian. The CRC is CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected), and
// masked = rotated right by 15 bits, plus 0xa282ead8.

#include <cstdint>
#include <string>
#include <string_view>

namespace bitcycle {

std::uint32_t crc32c(std::string_view bytes);
std::string tf_record(std::string_view data);

}  // namespace bitcycle
