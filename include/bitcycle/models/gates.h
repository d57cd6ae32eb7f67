#pragma once

// The gates of a network (network/gates.h): before each block they choose one of the options for
// every sample. The choice is the first of the highest scores; its gradient goes to the softmax of
// the scores as if that had been used (straight through).

#include "bitcycle/network/gates.h"
#include "bitcycle/nn/lstm_layer.h"

#include <functional>
#include <utility>
#include <vector>

namespace bitcycle {

struct GateChoice {
  std::vector<int> of_sample;  // the chosen option
  at::Tensor mask;             // [samples, options]: 1 where chosen, 0 elsewhere
};

// How many samples chose each of so many options.
std::vector<double> counts_of(const GateChoice& choice, int options);

// Chooses in place of the gates: an option for each of `samples` samples. For evaluation at fixed
// options, and for benchmarks.
using ForcedChoice = std::function<std::vector<int>(std::size_t block, std::int64_t samples)>;

class GatesImpl : public torch::nn::Module {
 public:
  GatesImpl(const Network& network, std::uint64_t seed);

  // Begins a forward pass: the recurrent state is zero, nothing was chosen.
  void start();
  // For the next block, from the mean of each channel of its input, [samples, channels] in float.
  const GateChoice& choose(const at::Tensor& means);
  // What this pass chose so far, block by block.
  const std::vector<GateChoice>& choices() const { return choices_; }
  // How many samples have chosen each option in evaluation since the last call, by block.
  std::vector<std::vector<double>> take_evaluated() { return std::exchange(evaluated_, {}); }
  // Lets go of the graph behind the choices.
  void forget() { start(); }

  // Empty: the gates choose.
  void force(ForcedChoice choice) { forced_ = std::move(choice); }
  // Whether nobody chooses: all layers then have the bits that they were told.
  void set_bypassed(bool bypassed) { bypassed_ = bypassed; }
  bool bypassed() const { return bypassed_; }

  int options() const { return shape_.options; }
  std::size_t blocks() const { return embeddings_.size(); }

 private:
  void initialise(const Network& network, std::uint64_t seed);
  void count_evaluated();

  GateShape shape_;
  std::vector<std::vector<QuantLinear>> embeddings_;  // of each block
  LstmLayer cell_;
  QuantLinear head_{nullptr};
  at::Tensor hidden_, memory_;  // of the cell; undefined: zero
  std::vector<GateChoice> choices_;
  std::vector<std::vector<double>> evaluated_;
  ForcedChoice forced_;
  bool bypassed_ = false;
};
TORCH_MODULE(Gates);

}  // namespace bitcycle
