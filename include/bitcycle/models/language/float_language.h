#pragma once

// The language models in plain LibTorch modules, in float, as a LibTorch user would write them for
// speed: what Bitcycle's speed is measured against.

#include "bitcycle/network/language.h"
#include "bitcycle/quant/torch.h"

#include <vector>

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

namespace bitcycle {

// torch::nn::LSTM, which runs all layers and time steps of a window in one call.
class FloatLstmLmImpl : public torch::nn::Module {
 public:
  explicit FloatLstmLmImpl(const LstmOptions& options);
  // Mean cross entropy of targets given tokens, both [time, batch], from zero state.
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets);

 private:
  double dropout_;
  torch::nn::Embedding encoder_;
  torch::nn::LSTM rnn_;
  torch::nn::Linear decoder_;
};
TORCH_MODULE(FloatLstmLm);

// Queries, keys and values in one product, LibTorch's own attention, the output tied to the
// embedding. Without cut-offs.
class FloatTransformerLmImpl : public torch::nn::Module {
 public:
  explicit FloatTransformerLmImpl(const TransformerOptions& options);
  // Mean cross entropy of targets given tokens, both [batch, time].
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets);

 private:
  struct Block {
    torch::nn::LayerNorm attention_norm, feed_forward_norm;
    torch::nn::Linear qkv, out, fc1, fc2;
  };
  at::Tensor attend(Block& block, const at::Tensor& x);
  at::Tensor drop(const at::Tensor& x);

  TransformerOptions options_;
  torch::nn::Embedding embedding_;
  std::vector<Block> blocks_;
  torch::nn::LayerNorm final_norm_;
  at::Tensor positions_, mask_;  // as large as the windows so far
};
TORCH_MODULE(FloatTransformerLm);

}  // namespace bitcycle
