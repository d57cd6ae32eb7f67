#pragma once

// Texts for language models, by name: ptb, wikitext2 and wikitext103 word by word, and text, any
// file of one's own byte by byte. Opening one finds its files, checks them, and turns each split
// into numbers. docs/data.md describes layouts, splits and vocabulary.

#include "bitcycle/data/part.h"
#include "bitcycle/data/text/vocabulary.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// The names that open_corpus knows.
const std::vector<std::string>& corpus_names();
bool is_corpus(const std::string& name);

enum class TokenLevel { word, byte };

// How words are numbered: as they first appear in the training text, or the most frequent first
// (equals as they appear), which is what adaptive input and softmax go by.
enum class VocabularyOrder { appearance, frequency };

// Word by word: as if a space stood between two words and a newline after each line, whatever the
// file has there. Byte by byte both are the number of bytes.
struct TextSize {
  std::int64_t bytes = 0;
  std::int64_t characters = 0;
  bool operator==(const TextSize&) const = default;
};

struct TextSplit {
  std::string origin;  // for messages
  std::vector<std::int32_t> tokens;
  TextSize size;
  TextSize scored_size;  // without the first token, which is predicted from nothing
};

struct CorpusOptions {
  std::string name = "ptb";
  std::filesystem::path root = {};  // empty: the usual places (search_places); of text the file
  Part part = {};                   // of the tokens of the training text
  // Fractions of `text`, whose middle is held out for validation and whose end for the test. The
  // other corpora have splits of their own.
  double validation = 0.1;
  double test = 0.1;
  std::int64_t limit = 0;  // at most so many tokens from the beginning of each split; 0: all
  VocabularyOrder order = VocabularyOrder::appearance;
  std::optional<Vocabulary> vocabulary = {};  // of a run; else made from the training text
};

struct Corpus {
  TokenLevel level = TokenLevel::word;
  Vocabulary vocabulary;  // empty for bytes, which are their own numbers
  std::shared_ptr<const TextSplit> train;
  std::shared_ptr<const TextSplit> validation;  // null when its fraction is 0, like test
  std::shared_ptr<const TextSplit> test;

  std::int64_t vocabulary_size() const;
  // Changes when a token or a word does.
  std::string fingerprint() const;
};

// Throws Error(data) when the corpus is missing or damaged, when a split has fewer than two tokens,
// when word-level text is not UTF-8 or has a word that the vocabulary has neither as it is nor as
// <unk>: which file, where, what to do. An unknown name or impossible fractions are Error(usage).
Corpus open_corpus(const CorpusOptions& options);

// Opens a corpus that has files of known names, and compares those whose sums are known or listed
// in an MD5SUMS beside them; throws what is wrong first.
void check_corpus(const std::string& name, const std::filesystem::path& root);

}  // namespace bitcycle
