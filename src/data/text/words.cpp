#include "data/text/words.h"

#include <algorithm>

namespace bitcycle {
namespace {

using Byte = unsigned char;

constexpr bool within(Byte byte, Byte low, Byte high) {
  return byte >= low && byte <= high;
}

constexpr bool continues(char c) {
  return within(static_cast<Byte>(c), 0x80, 0xbf);
}

// What may follow a first byte: how many bytes, and the range of the second, which is narrower
// where overlong forms, surrogates and too large numbers would begin.
struct Sequence {
  std::size_t length = 0;  // 0: no character begins with this byte
  Byte low = 0x80;
  Byte high = 0xbf;
};

constexpr Sequence sequence(Byte first) {
  if (first < 0x80) return {1};
  if (within(first, 0xc2, 0xdf)) return {2};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (within(first, 0xe1, 0xef)) return {3};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (within(first, 0xf1, 0xf3)) return {4};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {};
}

// The length of the character that `text` begins with; 0 when it begins with none.
std::size_t character_length(std::string_view text) {
  const Sequence expected = sequence(static_cast<Byte>(text[0]));
  if (expected.length <= 1) return expected.length;
  if (text.size() < expected.length) return 0;
  if (!within(static_cast<Byte>(text[1]), expected.low, expected.high)) return 0;
  const std::string_view rest = text.substr(2, expected.length - 2);
  return std::all_of(rest.begin(), rest.end(), continues) ? expected.length : 0;
}

}  // namespace

std::optional<std::string_view> Lines::next() {
  if (next_offset_ >= text_.size()) return std::nullopt;
  offset_ = next_offset_;
  ++number_;
  const std::size_t end = std::min(text_.find('\n', offset_), text_.size());
  next_offset_ = end + 1;
  return text_.substr(offset_, end - offset_);
}

std::string_view take_word(std::string_view& line) {
  const auto begin = std::find_if_not(line.begin(), line.end(), is_white_space);
  const auto end = std::find_if(begin, line.end(), is_white_space);
  const std::string_view word(begin, end);
  line = std::string_view(end, line.end());
  return word;
}

std::optional<std::size_t> first_byte_that_is_not_utf8(std::string_view text) {
  std::size_t place = 0;
  while (place < text.size()) {
    const std::size_t length = character_length(text.substr(place));
    if (length == 0) return place;
    place += length;
  }
  return std::nullopt;
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); });
}

std::string shortened(std::string_view word) {
  constexpr std::size_t kLongest = 60;
  if (word.size() <= kLongest) return std::string(word);
  std::size_t end = kLongest;
  while (end > 0 && continues(word[end])) --end;
  return std::string(word.substr(0, end)) + "...";
}

}  // namespace bitcycle
