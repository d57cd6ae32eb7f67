#pragma once

// Texts whose tokens are their own places, so that what is handed out can be told from where.

#include "bitcycle/data/text/corpus.h"
#include "bitcycle/data/text/token_batch.h"

#include <numeric>

#include <gtest/gtest.h>

namespace bitcycle::test {

inline std::shared_ptr<const TextSplit> text_of(std::vector<std::int32_t> tokens) {
  return std::make_shared<const TextSplit>(
      TextSplit{"numbers.txt", std::move(tokens), TextSize{}, TextSize{}});
}

inline std::shared_ptr<const TextSplit> numbered_text(std::int64_t count) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return text_of(std::move(tokens));
}

// How often each token of a numbered text is a target within the epoch. Expects that each target
// follows its input, and that every batch counts what it scores.
inline std::vector<int> times_scored(const TokenBatches& batches, std::int64_t tokens,
                                     std::int64_t epoch = 0) {
  std::vector<int> times(static_cast<std::size_t>(tokens), 0);
  const std::int64_t first = epoch * batches.steps_per_epoch();
  for (std::int64_t i = 0; i < batches.steps_per_epoch(); ++i) {
    const TokenBatch batch = batches.make(first + i);
    std::int64_t scored = 0;
    for (std::size_t place = 0; place < batch.targets.size(); ++place) {
      if (batch.targets[place] == kNotScored) continue;
      EXPECT_EQ(batch.targets[place], batch.inputs[place] + 1);
      ++times[static_cast<std::size_t>(batch.targets[place])];
      ++scored;
    }
    EXPECT_EQ(batch.scored, scored);
    EXPECT_EQ(batch.targets.size(), static_cast<std::size_t>(batch.rows * batch.columns));
    EXPECT_LE(batch.rows * batch.columns, batches.batch_tokens());
  }
  return times;
}

}  // namespace bitcycle::test
