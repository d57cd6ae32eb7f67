#pragma once

// Views of a dataset, and the seeded choices that make them: random orders and the cut between
// training and validation.

#include "bitcycle/base/random.h"
#include "bitcycle/data/dataset.h"
#include "bitcycle/data/part.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace bitcycle {

// 0 .. count-1 in an order drawn by `key` (Fisher and Yates).
std::vector<std::int64_t> permutation(std::int64_t count, RandomKey key);

struct SplitIndices {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
};

// The samples of a part, ascending: each class gives its own share, in the order of the dataset.
std::vector<std::int64_t> part_indices(const Dataset& dataset, const Part& part);

// Gives a fraction of `count` samples (rounded, and at least one when the fraction is above 0) to
// validation and the rest to train, at most `limit` samples to each unless it is 0. Which ones is
// drawn by `key`; both lists ascend.
SplitIndices split_indices(std::int64_t count, double validation, std::int64_t limit,
                           RandomKey key);

// A share of every class, for instance to test on, and what is left; both ascend.
struct BalancedSplit {
  std::vector<std::int64_t> taken;
  std::vector<std::int64_t> left;
};
// Of each class the fraction, rounded; at least one, and never all. Which ones is a function of
// `key` and the samples' names: a sample that is added moves hardly any other.
BalancedSplit balanced_split(const Dataset& dataset, double fraction, RandomKey key);

// At most `limit` of the indices, drawn by `key`, ascending; 0: all of them.
std::vector<std::int64_t> limited(std::vector<std::int64_t> indices, std::int64_t limit,
                                  RandomKey key);

// The samples of `dataset` at `indices`.
std::shared_ptr<const Dataset> subset(std::shared_ptr<const Dataset> dataset,
                                      std::vector<std::int64_t> indices);

}  // namespace bitcycle
