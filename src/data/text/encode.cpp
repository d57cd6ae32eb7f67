#include "data/text/encode.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"

#include "data/text/words.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>

#include <fmt/format.h>

namespace bitcycle {
namespace {

enum class TokenPlace { first_word, later_word, line_end };

struct Token {
  std::string_view word;
  TokenPlace place;
  std::int64_t line;
};

// The words of a text one after the other, <eos> after each line.
class Tokens {
 public:
  explicit Tokens(const SourceText& source) : source_(source), lines_(source.text) {}

  std::optional<Token> next() {
    TokenPlace place = TokenPlace::later_word;
    if (!rest_) {
      rest_ = lines_.next();
      if (!rest_) return std::nullopt;
      require_utf8();
      place = TokenPlace::first_word;
    }
    const std::string_view word = take_word(*rest_);
    if (!word.empty()) return Token{word, place, lines_.number()};
    rest_.reset();
    return Token{kEndOfSentence, TokenPlace::line_end, lines_.number()};
  }

 private:
  void require_utf8() const {
    const auto bad = first_byte_that_is_not_utf8(*rest_);
    if (!bad) return;
    throw Error(ErrorCode::data,
                fmt::format("{}, line {}: expected UTF-8, found the byte {:#04x} at offset {} of "
                            "the file",
                            source_.origin, lines_.number(),
                            static_cast<unsigned char>((*rest_)[*bad]), lines_.offset() + *bad),
                "Convert the file to UTF-8 (iconv does), or read it byte by byte: data.dataset = "
                "\"text\".");
  }

  const SourceText& source_;
  Lines lines_;
  std::optional<std::string_view> rest_;  // of the line
};

void require_words(const SourceText& source) {
  if (!std::ranges::all_of(source.text, is_white_space)) return;
  throw Error(ErrorCode::data,
              fmt::format("{}: expected lines of words, found {}", source.origin,
                          source.text.empty() ? "an empty file" : "white space alone"),
              "Put text into it, or use another corpus; `bitcycle data` lists what is found.");
}

std::int64_t count_tokens(std::string_view text) {
  std::int64_t count = 0;
  char before = '\n';
  for (const char c : text) {
    count += c == '\n' || (is_white_space(before) && !is_white_space(c)) ? 1 : 0;
    before = c;
  }
  return before == '\n' ? count : count + 1;
}

// An unknown word is counted as it stands in the text.
TextSize size_of(const Token& token) {
  if (token.place == TokenPlace::line_end) return {1, 1};
  const std::int64_t separator = token.place == TokenPlace::later_word ? 1 : 0;
  return {separator + static_cast<std::int64_t>(token.word.size()),
          separator + count_characters(token.word)};
}

std::int32_t number_of(const Token& token, const Vocabulary& vocabulary,
                       const std::string& origin) {
  if (const auto id = vocabulary.id(token.word)) return *id;
  if (const auto unknown = vocabulary.id(kUnknownWord)) return *unknown;
  throw Error(
      ErrorCode::data,
      fmt::format("{}, line {}: the word \"{}\" is not in the vocabulary of {} words, which "
                  "has no {} either",
                  origin, token.line, shortened(token.word), vocabulary.size(), kUnknownWord),
      "The vocabulary is that of the training text: write <unk> for rare words there, and "
      "what is unknown elsewhere will be read as <unk> too.");
}

struct TokenRange {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

TokenRange range_of(const Excerpt& excerpt, std::int64_t count) {
  const std::int64_t begin = excerpt.part.begin(count), end = excerpt.part.end(count);
  return {begin, excerpt.limit > 0 ? std::min(begin + excerpt.limit, end) : end};
}

TextSplit roomy_split(const std::string& origin, std::int64_t kept) {
  require_memory(static_cast<std::uint64_t>(kept) * sizeof(std::int32_t),
                 fmt::format("keeping the {} tokens of {}", kept, origin),
                 "Set data.limit to use fewer of them.");
  TextSplit split{.origin = origin, .tokens = {}, .size = {}, .scored_size = {}};
  split.tokens.reserve(static_cast<std::size_t>(kept));
  return split;
}

TextSize operator+(const TextSize& a, const TextSize& b) {
  return {a.bytes + b.bytes, a.characters + b.characters};
}

Vocabulary by_frequency(const Vocabulary& vocabulary, const std::vector<std::int64_t>& counts) {
  std::vector<std::int32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int32_t id) { return counts[static_cast<std::size_t>(id)]; });
  Vocabulary sorted;
  for (const std::int32_t id : order) sorted.add(vocabulary.word(id));
  return sorted;
}

}  // namespace

Vocabulary make_vocabulary(const SourceText& source, VocabularyOrder order) {
  require_words(source);
  Vocabulary vocabulary;
  std::vector<std::int64_t> counts;
  Tokens tokens(source);
  while (const auto token = tokens.next()) {
    const auto id = static_cast<std::size_t>(vocabulary.add(token->word));
    if (id == counts.size()) counts.push_back(0);
    ++counts[id];
  }
  return order == VocabularyOrder::frequency ? by_frequency(vocabulary, counts) : vocabulary;
}

TextSplit encode_words(const SourceText& source, const Vocabulary& vocabulary,
                       const Excerpt& excerpt) {
  require_words(source);
  const TokenRange range = range_of(excerpt, count_tokens(source.text));
  TextSplit split = roomy_split(source.origin, range.size());
  Tokens tokens(source);
  for (std::int64_t i = 0; i < range.end; ++i) {
    const auto token = tokens.next();
    assert(token);
    if (i < range.begin) continue;
    const TextSize size = size_of(*token);
    if (!split.tokens.empty()) split.scored_size = split.scored_size + size;
    split.size = split.size + size;
    split.tokens.push_back(number_of(*token, vocabulary, source.origin));
  }
  return split;
}

TextSplit encode_bytes(const SourceText& source, const Excerpt& excerpt) {
  const TokenRange range = range_of(excerpt, static_cast<std::int64_t>(source.text.size()));
  const std::int64_t count = range.size();
  TextSplit split = roomy_split(source.origin, count);
  for (const char c :
       source.text.substr(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(count))) {
    split.tokens.push_back(static_cast<unsigned char>(c));
  }
  const std::int64_t scored = std::max<std::int64_t>(count - 1, 0);
  split.size = {count, count};
  split.scored_size = {scored, scored};
  return split;
}

}  // namespace bitcycle
