#pragma once

// The same network in plain LibTorch modules, in float, as a LibTorch user would write it: what
// speed is measured against.

#include "bitcycle/network/network.h"
#include "bitcycle/quant/torch.h"

#include <vector>

namespace bitcycle {

class FloatReferenceImpl : public torch::nn::Module {
 public:
  explicit FloatReferenceImpl(Network network);
  // x: [batch, channels, height, width]. Returns [batch, classes].
  at::Tensor forward(const at::Tensor& x);

 private:
  Network network_;
  std::vector<torch::nn::Conv2d> convolutions_;  // by node; empty where there is none
  std::vector<torch::nn::BatchNorm2d> norms_;
  std::vector<torch::nn::Linear> linears_;
};
TORCH_MODULE(FloatReference);

}  // namespace bitcycle
