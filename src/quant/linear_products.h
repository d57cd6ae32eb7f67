#pragma once

// The three products of a fully connected layer on codes, by executor. Both give the same bytes:
// the sums are integers, and what is done to them in float is done in one order (docs/numerics.md).

#include "bitcycle/kernels/integer/linear.h"
#include "bitcycle/quant/executor.h"

namespace bitcycle {

struct LinearProducts {
  void (*forward)(const integer::LinearWeights&, const integer::RowCodes& input,
                  std::span<const float> bias, std::span<float> output);
  void (*input_gradient)(const integer::LinearWeights&, const integer::RowCodes& errors,
                         std::span<float> gradient);
  void (*weight_gradient)(const integer::LinearWeights&, const integer::LinearTerm& term,
                          std::span<float> gradient);
  void (*weight_gradients)(const integer::LinearWeights&,
                           std::span<const integer::LinearTerm> terms, std::span<float> gradient);
};

const LinearProducts& linear_products(Executor executor);

}  // namespace bitcycle
