#pragma once

// Text cut into lines and words, the way the usual scripts for language models do: lines end at a
// newline (the last may lack it), words are separated by ASCII white space.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bitcycle {

constexpr bool is_white_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // Without its newline; nothing after the last line.
  std::optional<std::string_view> next();
  // Of the line that next() gave last, counted from 1, and where it begins.
  std::int64_t number() const { return number_; }
  std::size_t offset() const { return offset_; }

 private:
  std::string_view text_;
  std::size_t next_offset_ = 0;
  std::size_t offset_ = 0;
  std::int64_t number_ = 0;
};

// Takes the first word off `line`; empty when there is none.
std::string_view take_word(std::string_view& line);

// Where the text stops being UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates,
// nothing above U+10FFFF).
std::optional<std::size_t> first_byte_that_is_not_utf8(std::string_view text);

// Code points of text that is UTF-8.
std::int64_t count_characters(std::string_view text);

// For messages: a word that is too long to show ends in "...".
std::string shortened(std::string_view word);

}  // namespace bitcycle
