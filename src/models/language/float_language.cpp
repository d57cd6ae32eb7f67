#include "bitcycle/models/language/float_language.h"

#include <cmath>
#include <limits>

namespace bitcycle {
namespace {

torch::nn::LSTMOptions lstm_form(const LstmOptions& options) {
  const double between = options.layers > 1 ? options.dropout : 0.0;
  return torch::nn::LSTMOptions(options.embedding_size(), options.hidden)
      .num_layers(options.layers)
      .dropout(between);
}

at::Tensor flat_cross_entropy(const at::Tensor& scores, const at::Tensor& targets) {
  return at::cross_entropy_loss(scores.flatten(0, 1), targets.flatten());
}

// -inf above the diagonal: position i sees positions up to i.
at::Tensor causal_mask(std::int64_t window) {
  return at::full({window, window}, -std::numeric_limits<float>::infinity()).triu(1);
}

}  // namespace

FloatLstmLmImpl::FloatLstmLmImpl(const LstmOptions& options)
    : dropout_(options.dropout),
      encoder_(register_module("encoder",
                               torch::nn::Embedding(options.vocabulary, options.embedding_size()))),
      rnn_(register_module("rnn", torch::nn::LSTM(lstm_form(options)))),
      decoder_(register_module("decoder", torch::nn::Linear(options.hidden, options.vocabulary))) {
  if (options.tied) decoder_->weight = encoder_->weight;
}

at::Tensor FloatLstmLmImpl::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  const at::Tensor x = at::dropout(encoder_->forward(tokens), dropout_, is_training());
  const at::Tensor hidden = std::get<0>(rnn_->forward(x));
  const at::Tensor scores = decoder_->forward(at::dropout(hidden, dropout_, is_training()));
  return flat_cross_entropy(scores, targets);
}

FloatTransformerLmImpl::FloatTransformerLmImpl(const TransformerOptions& options)
    : options_(options),
      embedding_(
          register_module("embedding", torch::nn::Embedding(options.vocabulary, options.width))),
      final_norm_(register_module(
          "final_norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.width})))) {
  const std::int64_t d = options.width;
  const auto norm = [&] { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({d})); };
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string name = "layers" + std::to_string(i) + "_";
    blocks_.push_back({register_module(name + "attention_norm", norm()),
                       register_module(name + "feed_forward_norm", norm()),
                       register_module(name + "qkv", torch::nn::Linear(d, 3 * d)),
                       register_module(name + "out", torch::nn::Linear(d, d)),
                       register_module(name + "fc1", torch::nn::Linear(d, options.inner)),
                       register_module(name + "fc2", torch::nn::Linear(options.inner, d))});
  }
  const torch::NoGradGuard no_grad;
  embedding_->weight.normal_(0, 1 / std::sqrt(static_cast<double>(d)));
}

at::Tensor FloatTransformerLmImpl::drop(const at::Tensor& x) {
  return at::dropout(x, options_.dropout, is_training());
}

at::Tensor FloatTransformerLmImpl::attend(Block& block, const at::Tensor& x) {
  const std::int64_t batch = x.size(0), time = x.size(1), heads = options_.heads;
  const std::int64_t size = options_.width / heads;
  // [3, batch * heads, time, size]
  const at::Tensor qkv = block.qkv->forward(x)
                             .view({batch, time, 3, heads, size})
                             .permute({2, 0, 3, 1, 4})
                             .reshape({3, batch * heads, time, size});
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  const at::Tensor weights =
      at::baddbmm(mask_.unsqueeze(0), qkv[0], qkv[1].transpose(1, 2), 1, scale).softmax(-1);
  const at::Tensor dropped = at::dropout(weights, options_.attention_dropout, is_training());
  return block.out->forward(at::bmm(dropped, qkv[2])
                                .view({batch, heads, time, size})
                                .transpose(1, 2)
                                .reshape({batch, time, options_.width}));
}

at::Tensor FloatTransformerLmImpl::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  const std::int64_t time = tokens.size(1);
  if (!mask_.defined() || mask_.size(0) != time) {
    mask_ = causal_mask(time);
    positions_ = at::zeros({time, options_.width});  // what they hold takes no time
  }
  const double scale = std::sqrt(static_cast<double>(options_.width));
  at::Tensor x = drop(embedding_->forward(tokens) * scale + positions_);
  for (Block& block : blocks_) {
    x = x + drop(attend(block, block.attention_norm->forward(x)));
    const at::Tensor inner = block.fc1->forward(block.feed_forward_norm->forward(x)).relu();
    x = x + drop(block.fc2->forward(inner));
  }
  return flat_cross_entropy(at::linear(final_norm_->forward(x), embedding_->weight), targets);
}

}  // namespace bitcycle
