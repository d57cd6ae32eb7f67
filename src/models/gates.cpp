#include "bitcycle/models/gates.h"

#include "bitcycle/quant/lstm_function.h"

#include "models/initial_values.h"
#include "models/module_tree.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

QuantLinear gate_linear(std::int64_t in, std::int64_t out) {
  return QuantLinear(torch::nn::LinearOptions(in, out));
}

// The first of the highest scores of each sample. LibTorch's argmax does not promise the first.
std::vector<int> first_highest(const at::Tensor& scores) {
  const at::Tensor plain = scores.detach().to(at::kCPU).contiguous();
  const std::int64_t samples = plain.size(0), options = plain.size(1);
  std::vector<int> chosen;
  for (std::int64_t n = 0; n < samples; ++n) {
    const float* row = plain.data_ptr<float>() + n * options;
    chosen.push_back(static_cast<int>(std::max_element(row, row + options) - row));
  }
  return chosen;
}

at::Tensor one_hot(const std::vector<int>& chosen, const at::Tensor& like) {
  at::Tensor mask = at::zeros(like.sizes());
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    mask.data_ptr<float>()[n * static_cast<std::size_t>(like.size(1)) +
                           static_cast<std::size_t>(chosen[n])] = 1.0f;
  }
  return mask.to(like.device());
}

}  // namespace

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

at::Tensor GatesImpl::scores(const at::Tensor& means) {
  at::Tensor x = means;
  auto& layers = embeddings_[choices_.size()];
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i]->forward(i > 0 ? x.relu() : x);
  if (!hidden_.defined()) {
    hidden_ = memory_ = at::zeros({means.size(0), shape_.state}, means.options());
  }
  std::tie(hidden_, memory_) = lstm_cell(cell_.ih->forward(x), cell_.hh->forward(hidden_), memory_);
  return head_->forward(hidden_);
}

const GateChoice& GatesImpl::choose(const at::Tensor& means) {
  TORCH_CHECK(choices_.size() < blocks(), "there are ", blocks(), " gates, and all have chosen");
  const at::Tensor own = scores(means);
  std::vector<int> chosen = forced_ ? forced_(choices_.size(), means.size(0)) : first_highest(own);
  const at::Tensor probabilities = own.softmax(1);
  const at::Tensor mask = one_hot(chosen, probabilities) + (probabilities - probabilities.detach());
  choices_.push_back({std::move(chosen), mask});
  return choices_.back();
}

}  // namespace bitcycle
