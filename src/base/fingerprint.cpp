#include "bitcycle/base/fingerprint.h"

#include "bitcycle/base/random.h"

#include <fmt/format.h>
#include <zlib.h>

namespace bitcycle {

void Fingerprint::add(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  add(static_cast<std::int64_t>(bytes.size()));
  add(static_cast<std::int64_t>(crc32_z(0, data, bytes.size())));
}

void Fingerprint::add(std::string_view text) {
  add(std::as_bytes(std::span(text)));
}

void Fingerprint::add(std::int64_t number) {
  value_ = RandomKey(value_).derive(static_cast<std::uint64_t>(number)).value();
}

std::string Fingerprint::text() const {
  return fmt::format("{:016x}", value_);
}

}  // namespace bitcycle
