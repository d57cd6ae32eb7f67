#pragma once

// The three products of a convolution on codes, by executor. Both give the same bytes: the sums are
// integers, and what is done to them in float is done in one order (docs/numerics.md).

#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/quant/executor.h"

#include <span>

namespace bitcycle {

struct ConvProducts {
  void (*forward)(const integer::ConvShape&, std::span<const integer::ImageCodes> kinds,
                  const integer::ConvWeights&, integer::MutableReal output,
                  integer::ChannelStats& stats);
  void (*backward)(const integer::ConvBackward&);
};

const ConvProducts& conv_products(Executor executor);

}  // namespace bitcycle
