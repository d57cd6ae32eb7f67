#include "io/manifest.h"

#include "bitcycle/base/error.h"

#include <charconv>

#include <fmt/core.h>
#include <zlib.h>

namespace bitcycle {
namespace {

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()));
}

std::uint32_t crc_of(std::string_view text) {
  return crc_of(std::as_bytes(std::span(text)));
}

std::string last_line(std::string_view lines) {
  return fmt::format("DONE {:08x}\n", crc_of(lines));
}

// Cuts the text up to `end` off `rest`.
std::string_view take(std::string_view& rest, char end) {
  const std::string_view part = rest.substr(0, rest.find(end));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

template <class Number>
Number number(std::string_view digits, int base) {
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

}  // namespace

FileSeal seal(std::span<const std::byte> bytes) {
  return {bytes.size(), crc_of(bytes)};
}

std::string encode_manifest(const Manifest& manifest) {
  std::string lines;
  for (const auto& [name, seal] : manifest) {
    lines += fmt::format("{:08x} {} {}\n", seal.crc, seal.size, name);
  }
  return lines + last_line(lines);
}

Manifest decode_manifest(std::string_view text, const std::string& origin) {
  Manifest manifest;
  std::string_view rest = text;
  while (!rest.empty() && !rest.starts_with("DONE ")) {
    std::string_view line = take(rest, '\n');
    const auto crc = number<std::uint32_t>(take(line, ' '), 16);
    const auto size = number<std::uint64_t>(take(line, ' '), 10);
    if (line.find('/') == line.npos) manifest[std::string(line)] = {size, crc};
  }
  // Whatever was misread above does not encode back to the same bytes.
  if (encode_manifest(manifest) == text) return manifest;
  throw Error(ErrorCode::checkpoint, origin + " is damaged: its own checksum does not fit");
}

}  // namespace bitcycle
