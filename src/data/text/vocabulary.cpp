#include "bitcycle/data/text/vocabulary.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"

#include "data/text/words.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace bitcycle {
namespace {

Error bad_line(const std::string& origin, std::int64_t line, const std::string& found) {
  return Error(ErrorCode::data,
               fmt::format("{}, line {}: expected a word that has not been there before, found {}",
                           origin, line, found),
               "Restore the file: it has a word per line, as it was written with the run.");
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> words) {
  for (const std::string& word : words) add(word);
  assert(size() == static_cast<std::int64_t>(words.size()));
}

Vocabulary Vocabulary::parse(std::string_view text, const std::string& origin) {
  Vocabulary vocabulary;
  Lines lines(text);
  while (const auto line = lines.next()) {
    if (line->empty()) throw bad_line(origin, lines.number(), "an empty line");
    if (std::ranges::any_of(*line, is_white_space)) {
      throw bad_line(origin, lines.number(), fmt::format("\"{}\"", shortened(*line)));
    }
    if (vocabulary.add(*line) < lines.number() - 1) {
      throw bad_line(origin, lines.number(), fmt::format("\"{}\" again", shortened(*line)));
    }
  }
  if (vocabulary.size() == 0) throw bad_line(origin, 1, "the end of the file");
  return vocabulary;
}

std::string Vocabulary::text() const {
  std::string text;
  for (const std::string& word : words_) text += word + "\n";
  return text;
}

std::optional<std::int32_t> Vocabulary::id(std::string_view word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::int32_t Vocabulary::add(std::string_view word) {
  if (const auto known = id(word)) return *known;
  const auto next = static_cast<std::int32_t>(words_.size());
  words_.emplace_back(word);
  ids_.emplace(word, next);
  return next;
}

std::string Vocabulary::fingerprint() const {
  Fingerprint print;
  print.add(text());
  return print.text();
}

}  // namespace bitcycle
