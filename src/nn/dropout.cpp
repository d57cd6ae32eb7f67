#include "bitcycle/nn/dropout.h"

#include "bitcycle/quant/dropout_function.h"

namespace bitcycle {

StepDropoutImpl::StepDropoutImpl(double probability) : probability_(probability) {
  TORCH_CHECK(probability >= 0.0 && probability < 1.0,
              "StepDropout expects a probability from 0 to below 1, found ", probability);
  rate_ = drop_rate(probability);
}

void StepDropoutImpl::pretty_print(std::ostream& stream) const {
  stream << "bitcycle::StepDropout(" << probability_ << ")";
}

at::Tensor StepDropoutImpl::forward(const at::Tensor& x) {
  const DropRate now = rate();
  return now.threshold == 0 ? x : dropped_out(x, now, next_noise());
}

}  // namespace bitcycle
