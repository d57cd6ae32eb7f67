#pragma once

// What the tests of both language models ask.

#include "bitcycle/models/precision_controller.h"
#include "bitcycle/models/step_keys.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/train/tensor_io.h"

#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {

// The same bits in all layers, with the keys of `step`.
inline void set_step(torch::nn::Module& model, int bits, int error_bits, Step step) {
  for (const auto& item : model.named_modules("", false)) {
    auto* layer = dynamic_cast<QuantLayer*>(item.value().get());
    if (layer == nullptr) continue;
    const LayerBits layer_bits{bits, bits, error_bits};
    layer->set_precision(layer_bits, RandomKey(9).derive(item.key()).derive(step));
  }
  StepKeys(model, 9).apply(step);
}

// The quantized layers in order of registration are those that the list schedules, in its order.
inline void expect_listed(const torch::nn::Module& model, const std::vector<LayerInfo>& layers) {
  std::vector<LayerInfo> scheduled;
  for (const LayerInfo& layer : layers) {
    if (layer.precision == LayerPrecision::scheduled) scheduled.push_back(layer);
  }
  std::size_t i = 0;
  for (const auto& item : model.named_modules("", false)) {
    const auto* linear = dynamic_cast<const QuantLinearImpl*>(item.value().get());
    if (linear == nullptr) continue;
    ASSERT_LT(i, scheduled.size()) << item.key();
    EXPECT_EQ(item.key(), scheduled[i].name);
    EXPECT_EQ(linear->options.in_features(), scheduled[i].geometry.in_channels) << item.key();
    EXPECT_EQ(linear->options.out_features(), scheduled[i].geometry.out_channels) << item.key();
    ++i;
  }
  EXPECT_EQ(i, scheduled.size());
}

inline std::int64_t count_parameters(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

// Loss, gradients and state of a model after some steps, by name.
using Traces = std::map<std::string, at::Tensor>;

inline void add_state(Traces& traces, const torch::nn::Module& model) {
  for (const auto& item : model.named_parameters()) {
    traces["gradient of " + item.key()] = item.value().grad().clone();
  }
  for (const auto& [name, tensor] : model_state(model)) traces[name] = tensor.detach().clone();
}

inline void expect_same(const Traces& a, const Traces& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
}

// The result of `work` on so many threads.
template <typename Work>
auto on_threads(int threads, const Work& work) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  auto result = work();
  at::set_num_threads(before);
  return result;
}

}  // namespace bitcycle
