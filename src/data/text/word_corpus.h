#pragma once

// The corpora that come as three files of words.

#include "bitcycle/data/text/corpus.h"

#include "data/known_datasets.h"

namespace bitcycle {

// What the files are compared with.
enum class Comparison {
  listed,              // the directory's MD5SUMS, if there is one: the text may be somebody's own
  listed_or_official,  // without MD5SUMS, what is known of the official files
};

Corpus open_word_corpus(const KnownDataset& known, const CorpusOptions& options,
                        Comparison comparison);

}  // namespace bitcycle
