#pragma once

// A fully connected layer in the integer scheme, for autograd: the input and the errors are
// quantized, all three products are sums of integers (bitcycle/kernels/integer/linear.h). Kept for
// the backward pass: the input's codes.

#include "bitcycle/base/random.h"
#include "bitcycle/events/layer_statistics.h"
#include "bitcycle/kernels/range.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/torch.h"

#include <memory>

namespace bitcycle {

namespace integer {
class LinearWeights;
}

// A layer's weights as codes. They are made by the first call of a step and serve all others. A
// step ends where the layer says so (expire), and where a forward call follows a backward one: an
// optimizer may have been at work in between, which tensors do not always know of.
class LinearCodes {
 public:
  LinearCodes(std::int64_t inputs, std::int64_t outputs);
  ~LinearCodes();

  void expire() { fresh_ = false; }
  const integer::LinearWeights& forward(const at::Tensor& weight, int bits);
  // Codes of other bits may have come in between.
  const integer::LinearWeights& backward(const at::Tensor& weight, int bits);

 private:
  bool hold(const at::Tensor& weight, int bits) const;
  void quantize(const at::Tensor& weight, int bits);

  std::unique_ptr<integer::LinearWeights> weights_;
  bool fresh_ = false;
  const void* data_ = nullptr;
  std::int64_t version_ = -1;
};

struct IntegerLinearCall {
  LayerBits bits;
  NoiseKey noise;
  Executor executor = Executor::integer;
  Range input_range;  // over which the input is quantized
  std::shared_ptr<LinearCodes> codes;
  std::shared_ptr<LayerStatistics> observed = {};  // added to; null: nobody looks
};

// x [..., in] in float times weight [out, in], plus bias where it is defined.
at::Tensor integer_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const IntegerLinearCall& call);

}  // namespace bitcycle
