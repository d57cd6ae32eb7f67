#pragma once

// An LSTM language model as PyTorch's word_language_model has it: embedding, LSTM layers, decoder,
// with dropout before, between and behind the layers. Quantized are the products input-to-hidden
// (of a whole window at once, over one range), hidden-to-hidden (per time step, each over its own)
// and the decoder; embedding, biases, gates and cells stay in float.
//
// Its parameters are called as there, but for the LSTM's, which belong to quantized layers of their
// own: what PyTorch calls rnn.weight_ih_l0 and rnn.bias_ih_l0 is rnn.ih_l0.weight and
// rnn.ih_l0.bias here (pytorch_name).

#include "bitcycle/network/language.h"
#include "bitcycle/nn/dropout.h"
#include "bitcycle/nn/lstm_layer.h"
#include "bitcycle/nn/token_table.h"

#include <string>
#include <vector>

namespace bitcycle {

// What is carried from window to window; both [layers, batch, hidden].
struct LstmState {
  at::Tensor hidden;
  at::Tensor cell;

  // The same values without the graph that made them.
  LstmState detach() const { return {hidden.detach(), cell.detach()}; }
};

struct LstmOutput {
  at::Tensor values;
  LstmState state;
};

// The LSTM layers alone.
class LstmStackImpl : public torch::nn::Module {
 public:
  LstmStackImpl(const LstmOptions& options, StepDropout dropout_between);

  // x [time, batch, in] to [time, batch, hidden].
  LstmOutput forward(const at::Tensor& x, const LstmState& state);

 private:
  std::vector<LstmLayer> layers_;
  StepDropout dropout_;  // the model's
};
TORCH_MODULE(LstmStack);

class LstmLmImpl : public torch::nn::Module {
 public:
  // Values depend on the seed and the parameter's name alone. Throws Error(usage) for sizes that no
  // such model has.
  LstmLmImpl(const LstmOptions& options, std::uint64_t seed);

  LstmState zero_state(std::int64_t batch) const;

  // tokens [time, batch] to scores [time, batch, vocabulary].
  LstmOutput forward(const at::Tensor& tokens, const LstmState& state);
  // The two halves of forward: what the decoder reads [time, batch, hidden], and its scores.
  LstmOutput features(const at::Tensor& tokens, const LstmState& state);
  at::Tensor scores(const at::Tensor& features);
  // Mean cross entropy in nats of the targets [time, batch].
  at::Tensor loss(const at::Tensor& features, const at::Tensor& targets);

  const LstmOptions& options() const { return options_; }

  TokenTable encoder;
  LstmStack rnn;
  QuantLinear decoder;

 private:
  void initialise(std::uint64_t seed);

  LstmOptions options_;
  StepDropout drop_;
};
TORCH_MODULE(LstmLm);

// What PyTorch calls a parameter of an LstmLm: "rnn.ih_l0.weight" is its "rnn.weight_ih_l0".
std::string pytorch_name(const std::string& parameter);

}  // namespace bitcycle
