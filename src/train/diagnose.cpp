#include "bitcycle/train/diagnose.h"

#include "bitcycle/train/tensor_io.h"

#include "quant/finite_tensor.h"

namespace bitcycle {

std::string first_nonfinite_tensor(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_floating_point() && !finite_tensor(tensor)) return name;
  }
  return "";
}

std::string first_nonfinite_tensor(const torch::nn::Module& model) {
  return first_nonfinite_tensor(model_state(model));
}

// Layers are asked first: what a language model carries is of the batch that was lost, too.
std::string cause_of_nonfinite_loss(Task& task) {
  const std::string layer = task.first_nonfinite_layer();
  if (!layer.empty()) {
    return "the first value that is not finite is in the output of layer \"" + layer + "\"";
  }
  const std::string carried = first_nonfinite_tensor(task.state());
  if (!carried.empty()) {
    return "all layers' outputs for the batch alone are finite, but the model's \"" + carried +
           "\" state, carried from batch to batch, is not";
  }
  return "all layers' outputs are finite; the loss itself overflowed";
}

}  // namespace bitcycle
