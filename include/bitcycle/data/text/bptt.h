#pragma once

// Batches for truncated back-propagation through time: the text cut into columns that are read side
// by side, a window of rows per step (time first), so that a recurrent model carries its state from
// one batch to the next.

#include "bitcycle/data/text/corpus.h"
#include "bitcycle/data/text/token_batch.h"

#include <cstdint>
#include <memory>

namespace bitcycle {

struct BpttOptions {
  std::int64_t batch = 20;   // columns
  std::int64_t window = 35;  // rows; the last batch of an epoch may have fewer
  TextUse use = TextUse::training;
};

// For training, columns of floor(tokens / batch) consecutive tokens, the rest left out. For
// evaluation all pairs, spread over the columns; where they do not come out even, the last row
// shows the shorter columns the token that follows and does not score it. No column is empty, so
// there may be fewer than `batch`. Each column begins at zero state, so fewer columns give the
// model a little more to go by.
//
// Throws Error(usage) for sizes below 1, and Error(data) when training has columns shorter than a
// window.
std::shared_ptr<const TokenBatches> bptt_batches(std::shared_ptr<const TextSplit> split,
                                                 const BpttOptions& options);

}  // namespace bitcycle
