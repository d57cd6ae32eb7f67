#pragma once

// Note [Sparse errors]: where a layer's outputs are the words of a vocabulary, the magnitudes of a
// row of softmax's gradient add up to at most twice that of a target which is thought impossible,
// however many words there are. Such a target's error is about the largest code, so of a row of
// tens of thousands of 8-bit codes all but some hundreds are zero. The products with the others are
// all there is to do: for each such error a row of weights, or of the input, is added to the sums.
// The sums are the same integers as by tiles.

#include "bitcycle/kernels/integer/linear.h"

namespace bitcycle::integer {

// Whether so few errors are not zero, by a sample of the rows, that the functions below are faster
// than tiles.
bool mostly_zero(const RowCodes& errors);

// linear_input_gradient for at most kMaxProducts outputs.
void sparse_input_gradient(const LinearWeights& weights, const RowCodes& errors,
                           std::span<float> gradient);
// linear_weight_gradient for at most kSliceRows rows.
void sparse_weight_gradient(const LinearWeights& weights, const LinearTerm& term,
                            std::span<float> gradient);

}  // namespace bitcycle::integer
