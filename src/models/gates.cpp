#include "bitcycle/models/gates.h"

#include "models/gate_function.h"
#include "models/initial_values.h"
#include "models/module_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace bitcycle {
namespace {

QuantLinear gate_linear(std::int64_t in, std::int64_t out) {
  return QuantLinear(torch::nn::LinearOptions(in, out));
}

}  // namespace

std::vector<double> counts_of(const GateChoice& choice, int options) {
  std::vector<double> counts(static_cast<std::size_t>(options), 0.0);
  for (const int option : choice.of_sample) ++counts[static_cast<std::size_t>(option)];
  return counts;
}

GatesImpl::GatesImpl(const Network& network, std::uint64_t seed) : shape_(network.gates) {
  for (std::size_t i = 0; i < network.blocks.size(); ++i) {
    const int in = network.block_input(network.blocks[i]).channels;
    auto& layers = embeddings_.emplace_back();
    if (shape_.hidden > 0) layers.push_back(gate_linear(in, shape_.hidden));
    layers.push_back(gate_linear(shape_.hidden > 0 ? shape_.hidden : in, shape_.embedding));
    // The ReLU between two layers has a number too, as in PyTorch.
    for (std::size_t j = 0; j < layers.size(); ++j) {
      register_at_path(*this, std::to_string(i) + "." + std::to_string(2 * j), layers[j].ptr());
    }
  }
  cell_.ih = register_module("ih", gate_linear(shape_.embedding, 4 * shape_.state));
  cell_.hh = register_module("hh", gate_linear(shape_.state, 4 * shape_.state));
  head_ = register_module("head", gate_linear(shape_.state, shape_.options));
  initialise(network, seed);
}

// As the network's convolutions and classifier start; cell and biases as LibTorch's own.
void GatesImpl::initialise(const Network& network, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const bool normal = network.nodes.front().init == WeightInit::normal_fan_out;
  const RandomKey key = RandomKey(seed).derive("init").derive("gates");
  const auto inverse_root = [](auto size) { return 1.0 / std::sqrt(static_cast<double>(size)); };
  for (const auto& item : named_parameters()) {
    const std::string layer = item.key().substr(0, item.key().rfind('.'));
    const at::Tensor& parameter = item.value();
    const at::Tensor weight = named_parameters()[layer + ".weight"];
    const RandomKey own = key.derive(item.key());
    const bool in_cell = layer == "ih" || layer == "hh";
    if (!normal || in_cell || parameter.dim() == 1) {
      fill_uniform(parameter, own, inverse_root(in_cell ? shape_.state : weight.size(1)));
    } else {
      const auto outputs = parameter.size(0) * (layer == "head" ? parameter.size(1) : 1);
      fill_normal(parameter, own, std::sqrt(2.0) * inverse_root(outputs));
    }
  }
}

void GatesImpl::start() {
  hidden_.reset();
  memory_.reset();
  choices_.clear();
}

void GatesImpl::count_evaluated() {
  evaluated_.resize(blocks(), std::vector<double>(static_cast<std::size_t>(options()), 0.0));
  std::vector<double>& block = evaluated_[choices_.size() - 1];
  std::ranges::transform(block, counts_of(choices_.back(), options()), block.begin(),
                         std::plus<>());
}

const GateChoice& GatesImpl::choose(const at::Tensor& means) {
  TORCH_CHECK(choices_.size() < blocks(), "there are ", blocks(), " gates, and all have chosen");
  if (!hidden_.defined()) {
    hidden_ = memory_ = at::zeros({means.size(0), shape_.state}, means.options());
  }
  std::vector<int> forced;
  if (forced_) forced = forced_(choices_.size(), means.size(0));
  const auto of = [](const QuantLinear& layer) { return GateLayer{layer->weight, layer->bias}; };
  const auto& embedding = embeddings_[choices_.size()];
  GateOutput output = run_gate(means, hidden_, memory_,
                               {.first = embedding.size() > 1 ? of(embedding.front()) : GateLayer{},
                                .embedding = of(embedding.back()),
                                .ih = of(cell_.ih),
                                .hh = of(cell_.hh),
                                .head = of(head_)},
                               forced_ ? &forced : nullptr);
  hidden_ = output.hidden;
  memory_ = output.memory;
  choices_.push_back({std::move(output.chosen), output.mask});
  if (!is_training()) count_evaluated();
  return choices_.back();
}

}  // namespace bitcycle
