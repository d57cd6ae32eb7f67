#include "bitcycle/models/float_reference.h"

namespace bitcycle {

FloatReferenceImpl::FloatReferenceImpl(Network network, std::optional<LayerBits> authors_bits)
    : network_(std::move(network)), authors_bits_(authors_bits), ranges_(network_.nodes.size()) {
  for (const Node& node : network_.nodes) {
    const std::string id = std::to_string(convolutions_.size());
    convolutions_.emplace_back(nullptr);
    norms_.emplace_back(nullptr);
    linears_.emplace_back(nullptr);
    if (node.kind == NodeKind::convolution) {
      const auto options =
          torch::nn::Conv2dOptions(node.in.channels, node.out.channels, node.kernel)
              .stride(node.stride)
              .padding(node.padding)
              .groups(node.groups)
              .bias(false);
      convolutions_.back() = register_module("conv" + id, torch::nn::Conv2d(options));
      if (!authors_bits_) {
        convolutions_.back()->weight.set_data(
            convolutions_.back()->weight.contiguous(at::MemoryFormat::ChannelsLast));
      }
      norms_.back() = register_module("norm" + id, torch::nn::BatchNorm2d(node.out.channels));
    } else if (node.kind == NodeKind::linear) {
      linears_.back() =
          register_module("linear" + id, torch::nn::Linear(node.in.channels, node.out.channels));
    }
  }
}

at::Tensor FloatReferenceImpl::convolve(std::size_t i, const at::Tensor& x) {
  const Node& node = network_.nodes[i];
  if (!authors_bits_ || node.precision == LayerPrecision::full) {
    return convolutions_[i]->forward(x);
  }
  const ConvGeometry geometry{
      {node.stride, node.stride}, {node.padding, node.padding}, {1, 1}, node.groups};
  return authors_convolution(x, convolutions_[i]->weight, geometry, *authors_bits_, ranges_[i]);
}

at::Tensor FloatReferenceImpl::forward(const at::Tensor& x) {
  std::vector<at::Tensor> outputs(network_.nodes.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Node& node = network_.nodes[i];
    const at::Tensor& input = node.input == kInput ? x : outputs[node.input];
    at::Tensor& y = outputs[i];
    switch (node.kind) {
      case NodeKind::convolution:
        y = norms_[i]->forward(convolve(i, input));
        if (node.residual != kNone) y = y + (node.residual == kInput ? x : outputs[node.residual]);
        if (node.activation == Activation::relu) y = y.relu_();
        break;
      case NodeKind::max_pool:
        y = at::max_pool2d(input, node.kernel, node.stride, node.padding);
        break;
      case NodeKind::average_pool:
        y = at::adaptive_avg_pool2d(input, {1, 1});
        break;
      case NodeKind::linear:
        y = linears_[i]->forward(input.flatten(1));
        break;
    }
  }
  return outputs.back();
}

}  // namespace bitcycle
