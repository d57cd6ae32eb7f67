#pragma once

// Batches for models without state: windows of a fixed number of tokens, cut without regard to
// sentences, one per row. A window may overlap the one before by `context` tokens, which it sees
// and does not score, so that no token is judged without what came before it.

#include "bitcycle/data/text/corpus.h"
#include "bitcycle/data/text/token_batch.h"

#include <cstdint>
#include <memory>

namespace bitcycle {

struct WindowOptions {
  std::int64_t batch = 4;     // rows; the last batch of an epoch may have fewer
  std::int64_t window = 512;  // columns
  std::int64_t context = 0;   // of them, seen only (the first window scores all)
  TextUse use = TextUse::training;
  std::uint64_t seed = 0;  // of the order in training
};

// For training in an order drawn anew for every epoch, for evaluation in sequence. Either way an
// epoch scores every token but the first once: the last window is as long as the others, ends with
// the text, and scores what is left. A text shorter than a window is one shorter window in
// evaluation.
//
// Throws Error(usage) for impossible sizes, and Error(data) when a text to train on is shorter than
// a window.
std::shared_ptr<const TokenBatches> window_batches(std::shared_ptr<const TextSplit> split,
                                                   const WindowOptions& options);

}  // namespace bitcycle
