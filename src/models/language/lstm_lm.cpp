#include "bitcycle/models/language/lstm_lm.h"

#include "bitcycle/quant/cross_entropy_function.h"

#include "models/initial_values.h"

#include <cmath>

namespace bitcycle {
namespace {

constexpr double kEmbeddingBound = 0.1;  // word_language_model's

QuantLinear layer_linear(std::int64_t in, std::int64_t hidden) {
  return QuantLinear(torch::nn::LinearOptions(in, 4 * hidden));
}

LstmOptions checked(const LstmOptions& options) {
  check(options);
  return options;
}

}  // namespace

LstmStackImpl::LstmStackImpl(const LstmOptions& options, StepDropout dropout_between)
    : dropout_(std::move(dropout_between)) {
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string suffix = "_l" + std::to_string(i);
    const std::int64_t in = i == 0 ? options.embedding_size() : options.hidden;
    layers_.push_back(
        {register_module("ih" + suffix, layer_linear(in, options.hidden)),
         register_module("hh" + suffix, layer_linear(options.hidden, options.hidden))});
  }
}

LstmOutput LstmStackImpl::forward(const at::Tensor& x, const LstmState& state) {
  const std::vector<at::Tensor> hidden = state.hidden.unbind(0), cells = state.cell.unbind(0);
  std::vector<at::Tensor> last_hidden, last_cells;
  at::Tensor values = x;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) values = dropout_->forward(values);
    const LstmWindow window = run_window(layers_[i], values, hidden[i], cells[i]);
    values = window.output;
    last_hidden.push_back(window.output[-1]);
    last_cells.push_back(window.cell);
  }
  return {values, {at::stack(last_hidden), at::stack(last_cells)}};
}

LstmLmImpl::LstmLmImpl(const LstmOptions& options, std::uint64_t seed)
    : encoder(nullptr), rnn(nullptr), decoder(nullptr), options_(checked(options)), drop_(nullptr) {
  drop_ = register_module("drop", StepDropout(options.dropout));
  encoder = register_module("encoder", TokenTable(options.vocabulary, options.embedding_size()));
  rnn = register_module("rnn", LstmStack(options, drop_));
  decoder = register_module(
      "decoder", QuantLinear(torch::nn::LinearOptions(options.hidden, options.vocabulary),
                             options.tied ? WeightOwner::caller : WeightOwner::layer));
  initialise(seed);
}

// word_language_model's start: embedding and decoder uniform within 0.1, the decoder's bias 0; the
// LSTM as LibTorch's own, everything uniform within 1/sqrt(hidden).
void LstmLmImpl::initialise(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const RandomKey key = RandomKey(seed).derive("init");
  const double lstm_bound = 1.0 / std::sqrt(static_cast<double>(options_.hidden));
  for (const auto& item : named_parameters()) {
    const bool recurrent = item.key().starts_with("rnn.");
    fill_uniform(item.value(), key.derive(item.key()), recurrent ? lstm_bound : kEmbeddingBound);
  }
  decoder->bias.zero_();
}

LstmState LstmLmImpl::zero_state(std::int64_t batch) const {
  const auto zeros = [&] {
    return at::zeros({options_.layers, batch, options_.hidden}, encoder->weight.options());
  };
  return {zeros(), zeros()};
}

LstmOutput LstmLmImpl::features(const at::Tensor& tokens, const LstmState& state) {
  LstmOutput output = rnn->forward(drop_->forward(encoder->forward(tokens)), state);
  output.values = drop_->forward(output.values);
  return output;
}

at::Tensor LstmLmImpl::scores(const at::Tensor& features) {
  return decoder->forward(features, options_.tied ? encoder->weight : decoder->weight);
}

at::Tensor LstmLmImpl::loss(const at::Tensor& features, const at::Tensor& targets) {
  return mean_cross_entropy(scores(features).flatten(0, 1), targets.flatten());
}

LstmOutput LstmLmImpl::forward(const at::Tensor& tokens, const LstmState& state) {
  LstmOutput output = features(tokens, state);
  output.values = scores(output.values);
  return output;
}

std::string pytorch_name(const std::string& parameter) {
  const std::string prefix = "rnn.";
  const auto dot = parameter.rfind('.');
  if (!parameter.starts_with(prefix) || dot <= prefix.size()) return parameter;
  const std::string layer = parameter.substr(prefix.size(), dot - prefix.size());
  return prefix + parameter.substr(dot + 1) + "_" + layer;
}

}  // namespace bitcycle
