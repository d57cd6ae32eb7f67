#include "bitcycle/train/diagnose.h"

#include "bitcycle/train/tensor_io.h"

#include "quant/finite_tensor.h"

namespace bitcycle {

std::string first_nonfinite_tensor(const torch::nn::Module& model) {
  for (const auto& [name, tensor] : model_state(model)) {
    if (tensor.is_floating_point() && !finite_tensor(tensor)) return name;
  }
  return "";
}

}  // namespace bitcycle
