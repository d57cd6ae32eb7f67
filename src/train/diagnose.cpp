#include "bitcycle/train/diagnose.h"

#include "bitcycle/train/tensor_io.h"

#include "quant/finite_tensor.h"

namespace bitcycle {
namespace {

// Pools have no name of their own; that of the layer before them tells where they are.
std::string title(const Network& network, const Node& node) {
  if (node.has_weights()) return node.name;
  const std::string kind = node.kind == NodeKind::max_pool ? "max pooling" : "average pooling";
  return node.input < 0 ? kind : kind + " behind " + title(network, network.nodes[node.input]);
}

}  // namespace

std::string first_nonfinite_layer(NetworkModelImpl& model, const at::Tensor& images) {
  const torch::NoGradGuard no_grad;
  std::string first;
  model.forward(images, [&](const Node& node, const at::Tensor& output) {
    if (first.empty() && !finite_tensor(output)) first = title(model.network(), node);
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
