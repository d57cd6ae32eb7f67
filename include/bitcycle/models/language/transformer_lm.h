#pragma once

// A decoder-only Transformer language model as fairseq has it: sinusoidal positions, norms before
// attention and feed-forward, output layer tied to the embedding; or, with cut-offs, adaptive input
// and softmax. Quantized are the projections of attention, the two feed-forward layers and the
// output layer; look-ups, norms, attention's products and softmax stay in float. Parameters carry
// fairseq's names ("decoder.layers.0.self_attn.q_proj.weight").

#include "bitcycle/models/language/adaptive.h"
#include "bitcycle/nn/layer_norm.h"

namespace bitcycle {

// One layer: x += out(attention(norm(x))), x += fc2(relu(fc1(norm(x)))).
class TransformerBlockImpl : public torch::nn::Module {
 public:
  explicit TransformerBlockImpl(const TransformerOptions& options);

  // [batch, time, width] both.
  at::Tensor forward(const at::Tensor& x);

 private:
  at::Tensor attend(const at::Tensor& x);

  std::int64_t heads_;
  QuantLinear q_, k_, v_, out_, fc1_, fc2_;
  LayerNorm attention_norm_, feed_forward_norm_;
  StepDropout dropout_, attention_dropout_, activation_dropout_;
};
TORCH_MODULE(TransformerBlock);

class TransformerLmImpl : public torch::nn::Module {
 public:
  // Values depend on the seed and the parameter's name alone. Throws Error(usage) for sizes that no
  // such model has.
  TransformerLmImpl(const TransformerOptions& options, std::uint64_t seed);

  // tokens [batch, time] to scores [batch, time, vocabulary]; with cut-offs log-probabilities.
  at::Tensor forward(const at::Tensor& tokens) { return scores(features(tokens)); }
  // Its parts: what the layers read, what the output layer reads [batch, time, width], its scores.
  at::Tensor embed(const at::Tensor& tokens);
  at::Tensor features(const at::Tensor& tokens);
  at::Tensor scores(const at::Tensor& features);
  // Mean cross entropy in nats over the targets [batch, time] that are no padding. With cut-offs
  // this is cheaper than to ask for all scores.
  at::Tensor loss(const at::Tensor& features, const at::Tensor& targets);

  const TransformerOptions& options() const { return options_; }

  std::vector<TransformerBlock> blocks;
  LayerNorm final_norm;          // null without one
  AdaptiveInput adaptive_input;  // these two with cut-offs,
  AdaptiveSoftmax adaptive_softmax;
  TokenTable table;  // these two without
  QuantLinear output;

 private:
  void build_input();
  void build_output();
  void initialise(std::uint64_t seed);
  at::Tensor positions(const at::Tensor& tokens);

  TransformerOptions options_;
  StepDropout dropout_;
  at::Tensor position_table_;  // as long as any window so far
};
TORCH_MODULE(TransformerLm);

// Rows p = 0 ... count-1 of [sin(p f_0), ..., cos(p f_0), ...], f_k = exp(-k ln(10000) / (half -
// 1)), half = width / 2; row `padding` is zero, and so is the last column of an odd width.
// fairseq's.
at::Tensor sinusoidal_positions(std::int64_t count, std::int64_t width, std::int64_t padding);

}  // namespace bitcycle
