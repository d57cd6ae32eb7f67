#pragma once

// Text in memory turned into numbers, word by word or byte by byte.

#include "bitcycle/data/text/corpus.h"

#include <string>
#include <string_view>

namespace bitcycle {

struct SourceText {
  std::string_view text;
  std::string origin;  // for messages
};

// Of the words and the <eos> after each line. Throws Error(data) when there is no word, or at the
// first byte that is not UTF-8, as encode_words does.
Vocabulary make_vocabulary(const SourceText& source, VocabularyOrder order);

// Which tokens of a text: of a part, at most `limit` from its beginning, unless that is 0.
struct Excerpt {
  Part part = {};
  std::int64_t limit = 0;
};

// Words that the vocabulary lacks become <unk>; where it
// lacks that too, they are Error(data).
TextSplit encode_words(const SourceText& source, const Vocabulary& vocabulary,
                       const Excerpt& excerpt);

TextSplit encode_bytes(const SourceText& source, const Excerpt& excerpt);

}  // namespace bitcycle
