#pragma once

// The words that a language model knows, numbered from 0. It is made once, from the training text,
// and written with the run, so that a model is evaluated with the numbers it was trained with.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bitcycle {

inline constexpr std::string_view kEndOfSentence = "<eos>";
inline constexpr std::string_view kUnknownWord = "<unk>";

class Vocabulary {
 public:
  Vocabulary() = default;
  // Numbered in this order; the words must differ.
  explicit Vocabulary(std::vector<std::string> words);

  // Reads what text() wrote. Throws Error(data) naming `origin` and the line when a line is empty,
  // has white space in it or repeats a word, or when there is no line at all.
  static Vocabulary parse(std::string_view text, const std::string& origin);
  // A word per line, in the order of their numbers.
  std::string text() const;

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  const std::string& word(std::int32_t id) const { return words_[static_cast<std::size_t>(id)]; }
  std::optional<std::int32_t> id(std::string_view word) const;
  // The word's number; a new word gets the next one.
  std::int32_t add(std::string_view word);

  std::string fingerprint() const;
  bool operator==(const Vocabulary& other) const { return words_ == other.words_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>()(word);
    }
  };

  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace bitcycle
