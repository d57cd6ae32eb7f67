#pragma once

// Softmax and cross entropy of rows of scores in one pass each way: with the vocabulary of a
// language model the scores are the largest tensor of a step. Every instruction set and every
// number of threads gives the same bytes.

#include <cstdint>
#include <span>

namespace bitcycle {

// Scores [rows, classes], dense.
struct ScoreRows {
  const float* scores = nullptr;
  std::int64_t rows = 0;
  std::int64_t classes = 0;
};

// Per row log(sum over c of exp(score[c])).
void log_sums(const ScoreRows& rows, std::span<float> sums);

// gradient[r][c] = weights[r] (exp(score[r][c] - sums[r]) - [c == targets[r]]); `gradient` may be
// the scores.
void cross_entropy_gradient(const ScoreRows& rows, std::span<const float> sums,
                            std::span<const std::int64_t> targets, std::span<const float> weights,
                            float* gradient);

}  // namespace bitcycle
