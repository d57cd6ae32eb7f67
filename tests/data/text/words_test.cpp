#include "data/text/words.h"

#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> found;
  Lines lines(text);
  while (const auto line = lines.next()) found.emplace_back(*line);
  return found;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) words.emplace_back(word);
  return words;
}

using Strings = std::vector<std::string>;

TEST(WordsTest, LinesEndAtNewlinesAndTheLastMayLackIt) {
  EXPECT_EQ(lines_of(""), Strings{});
  EXPECT_EQ(lines_of("\n"), Strings{""});
  EXPECT_EQ(lines_of("a\n\nb"), (Strings{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\nb\n"), (Strings{"a", "b"}));
}

TEST(WordsTest, LinesKnowTheirNumberAndPlace) {
  Lines lines("ab\n\ncd");
  lines.next();
  lines.next();
  lines.next();
  EXPECT_EQ(lines.number(), 3);
  EXPECT_EQ(lines.offset(), 4u);
}

TEST(WordsTest, AnyRunOfWhiteSpaceSeparatesWords) {
  EXPECT_EQ(words_of(" no it  was\tn't \v\f\r"), (Strings{"no", "it", "was", "n't"}));
  EXPECT_EQ(words_of("  "), Strings{});
  EXPECT_EQ(words_of("no\u00a0break"), Strings{"no\u00a0break"});
}

// UTF-8 as its inventors define it, from the number.
std::string utf8(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 63))};
  if (c < 0x10000) {
    return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 63)), byte(0x80 | (c & 63))};
  }
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 63)), byte(0x80 | (c >> 6 & 63)),
          byte(0x80 | (c & 63))};
}

TEST(WordsTest, EveryCharacterIsUtf8ButSurrogatesAndTooLargeNumbers) {
  for (char32_t c = 0; c < 0x118000; ++c) {
    const bool exists = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    ASSERT_EQ(!first_byte_that_is_not_utf8(utf8(c)), exists) << static_cast<unsigned>(c);
  }
}

TEST(WordsTest, WhereUtf8EndsIsFound) {
  for (const char* bad : {"\xff", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
                          "\xf0\x8f\xbf\xbf", "\xe2\x82", "\xe2\x82z", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_EQ(first_byte_that_is_not_utf8(std::string("a\u20ac") + bad), 4u) << bad;
  }
  EXPECT_EQ(first_byte_that_is_not_utf8(""), std::nullopt);
}

TEST(WordsTest, CharactersAreCodePoints) {
  EXPECT_EQ(count_characters(""), 0);
  EXPECT_EQ(count_characters("a\u00e9\u20ac\U0001f600"), 4);
}

TEST(WordsTest, LongWordsAreShownInPart) {
  EXPECT_EQ(shortened("word"), "word");
  const std::string shown = shortened(std::string(59, 'x') + "\u20ac\u20ac");
  EXPECT_EQ(shown, std::string(59, 'x') + "...");
}

}  // namespace
}  // namespace bitcycle
