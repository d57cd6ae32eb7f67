#pragma once

// What the two ways of batching share: checks of their options, and the filling of a batch.

#include "bitcycle/data/text/corpus.h"
#include "bitcycle/data/text/token_batch.h"

#include <cstdint>
#include <string>

namespace bitcycle {

// Throws Error(usage) naming `what` ("batch size") when it is below 1.
void require_positive(std::int64_t value, const std::string& what);

// The pairs of a text (Note [Pairs]).
std::int64_t pair_count(const TextSplit& split);

// A batch of this form, all of it kNotScored, in the memory of `used`.
TokenBatch empty_batch(std::int64_t rows, std::int64_t columns, BatchStart start, TokenBatch used);

enum class Scoring { seen_only, scored };

// Puts pair number `pair` of the text at `place`. A pair that is only seen may lie one behind the
// end: the last token has no successor.
void put_pair(TokenBatch& batch, std::int64_t place, const TextSplit& split, std::int64_t pair,
              Scoring scoring);

}  // namespace bitcycle
