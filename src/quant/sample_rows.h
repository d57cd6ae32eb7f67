#pragma once

// Some samples of a batch, and batches put together again, for blocks that samples may skip. Float
// or half, channels-last.

#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

// The samples `rows` (ascending), in that order.
at::Tensor select_samples(const at::Tensor& x, const std::vector<int>& rows);

// A block that some samples went through and the others skipped: sample rows[i] of the result is
// passed[i], the others are those of `skipped`. The gradient of `skip` ([samples], 1 for those that
// skipped) is what skipping would have been worth to a sample that went through, the inner product
// of its error with skipped - passed; of one that skipped it is 0, because what going through would
// have been worth is not known without doing it. `gradient_scale`: what errors are multiplied by.
struct SkipCall {
  std::vector<int> rows;
  float gradient_scale = 1.0f;
};
at::Tensor join_samples(const at::Tensor& skipped, const at::Tensor& passed, const at::Tensor& skip,
                        const SkipCall& call);

}  // namespace bitcycle
