#pragma once

// Any file as a corpus, byte by byte, cut into splits by fractions.

#include "bitcycle/data/text/corpus.h"

namespace bitcycle {

Corpus open_byte_corpus(const CorpusOptions& options);

}  // namespace bitcycle
