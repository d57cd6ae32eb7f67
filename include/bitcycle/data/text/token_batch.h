#pragma once

// What a language model is shown at one step: tokens, and the token after each. Note [Pairs]: a
// text of n tokens is n - 1 pairs of a token and its successor; every way of batching hands out
// such pairs, and where each pair is scored once, so is each token but the first.

#include "bitcycle/data/prefetcher.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace bitcycle {

// The target of a position that is seen and not scored; LibTorch's losses ignore it unless told.
inline constexpr std::int64_t kNotScored = -100;

enum class TextUse {
  training,    // as the usual scripts do it: see the two ways of batching
  evaluation,  // from beginning to end, every token but the first scored once, whatever the batch
};

enum class BatchStart {
  epoch,    // state that a model carries from batch to batch begins at zero here
  ongoing,  // it goes on from the batch before
};

struct TokenBatch {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> inputs;   // rows x columns
  std::vector<std::int64_t> targets;  // rows x columns; kNotScored where nothing is asked
  std::int64_t scored = 0;            // targets that are asked for
  BatchStart start = BatchStart::ongoing;
};

// The batch of any step, as a function of the step; epochs follow each other without end. May be
// called from many threads.
class TokenBatches {
 public:
  virtual ~TokenBatches() = default;
  virtual std::int64_t steps_per_epoch() const = 0;
  // Rows x columns of the largest batch.
  virtual std::int64_t batch_tokens() const = 0;
  // Rows x columns of all batches of an epoch.
  virtual std::int64_t tokens_per_epoch() const = 0;
  // Tokens that an epoch scores.
  virtual std::int64_t scored_per_epoch() const = 0;
  // `used` lends its memory.
  virtual TokenBatch make(std::int64_t step, TokenBatch used = {}) const = 0;
};

// The batches from options.first_step on, prepared ahead. Throws Error(memory) when those under way
// would not fit.
Prefetcher<TokenBatch> prefetch(std::shared_ptr<const TokenBatches> batches,
                                const PrefetchOptions& options);

}  // namespace bitcycle
