#pragma once

// Dropout whose mask is a function of the step's key and the element: it depends neither on threads
// nor on where a run was resumed. The identity in evaluation.

#include "bitcycle/kernels/dropout.h"
#include "bitcycle/nn/step_keyed.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle {

class StepDropoutImpl : public torch::nn::Module, public StepKeyed {
 public:
  // Probability in [0, 1).
  explicit StepDropoutImpl(double probability);

  void pretty_print(std::ostream& stream) const override;
  at::Tensor forward(const at::Tensor& x);

  // For whoever applies the mask elsewhere: the rate of the next call (0 in evaluation), its key.
  DropRate rate() const { return is_training() ? rate_ : DropRate{}; }
  NoiseKey next_noise() { return noise_key(next_call_key()); }

 private:
  double probability_;
  DropRate rate_;
};
TORCH_MODULE(StepDropout);

}  // namespace bitcycle
