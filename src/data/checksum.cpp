#include "data/checksum.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace bitcycle {
namespace {

constexpr std::size_t kDigits = 32;

bool is_sum(std::string_view text) {
  return text.size() == kDigits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::string md5(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_md5(), nullptr) != 1) {
    throw Error(ErrorCode::data, "OpenSSL offers no MD5 on this machine",
                "A FIPS configuration switches MD5 off; datasets cannot be checked there.");
  }
  std::string digits;
  for (unsigned i = 0; i < size; ++i) digits += fmt::format("{:02x}", digest[i]);
  return digits;
}

std::optional<std::string> parse_md5(std::string_view text) {
  if (!is_sum(text)) return std::nullopt;
  return lower(text);
}

Checksums parse_checksums(std::string_view text, const std::string& origin) {
  Checksums sums;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    const std::optional<std::string> sum = parse_md5(line.substr(0, kDigits));
    std::string_view name = line.substr(std::min(kDigits + 2, line.size()));
    if (name.starts_with("./")) name.remove_prefix(2);
    if (!sum || name.empty()) {
      throw Error(
          ErrorCode::data,
          fmt::format("{}:{}: expected an MD5 sum, two spaces and a file name, found \"{}\"",
                      origin, number, line.substr(0, 80)),
          "Write the file with md5sum(1): md5sum FILES > MD5SUMS");
    }
    sums[std::string(name)] = *sum;
  }
  return sums;
}

}  // namespace bitcycle
