#include "bitcycle/train/diagnose.h"

#include "bitcycle/train/tensor_io.h"

#include "quant/finite_tensor.h"

namespace bitcycle {
namespace {

std::string title(const Node& node) {
  switch (node.kind) {
    case NodeKind::max_pool:
      return "max pooling";
    case NodeKind::average_pool:
      return "average pooling";
    default:
      return node.name;
  }
}

}  // namespace

std::string first_nonfinite_layer(NetworkModelImpl& model, const at::Tensor& images) {
  const torch::NoGradGuard no_grad;
  std::string first;
  model.forward(images, [&](const Node& node, const at::Tensor& output) {
    if (first.empty() && !finite_tensor(output)) first = title(node);
  });
  return first;
}

std::string first_nonfinite_tensor(const torch::nn::Module& model) {
  for (const auto& [name, tensor] : model_state(model)) {
    if (tensor.is_floating_point() && !finite_tensor(tensor)) return name;
  }
  return "";
}

}  // namespace bitcycle
