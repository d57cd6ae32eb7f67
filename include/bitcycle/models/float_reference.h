#pragma once

// The same network in plain LibTorch modules, in float, as a LibTorch user would write it: what
// speed is measured against. It can also simulate low precision in the way of CPT's authors.

#include "bitcycle/models/authors_convolution.h"
#include "bitcycle/network/network.h"
#include "bitcycle/quant/torch.h"

#include <optional>
#include <vector>

namespace bitcycle {

class FloatReferenceImpl : public torch::nn::Module {
 public:
  // With bits, the convolutions that the network does not keep in float are the authors'
  // (authors_convolution.h), and weights stay in LibTorch's default layout, as there; without,
  // they are channels-last, which is faster.
  explicit FloatReferenceImpl(Network network, std::optional<LayerBits> authors_bits = {});
  // x: [batch, channels, height, width]. Returns [batch, classes].
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor convolve(std::size_t node, const at::Tensor& x);

  Network network_;
  std::optional<LayerBits> authors_bits_;
  std::vector<torch::nn::Conv2d> convolutions_;  // by node; empty where there is none
  std::vector<AuthorsRange> ranges_;             // of their inputs
  std::vector<torch::nn::BatchNorm2d> norms_;
  std::vector<torch::nn::Linear> linears_;
};
TORCH_MODULE(FloatReference);

}  // namespace bitcycle
