#pragma once

// What a benchmark times: a model on one batch of random data, as Bitcycle has it and as a LibTorch
// user would write it in float.

#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/torch.h"
#include "bitcycle/tasks/image_classification.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// A model and its loss on the batch.
struct BenchNet {
  std::shared_ptr<torch::nn::Module> module;
  std::function<at::Tensor()> loss;
};

struct BenchSubject {
  std::vector<LayerInfo> layers;
  std::int64_t batch = 0;  // samples, columns or windows
  double work = 0;         // of a step, in the units of LayerInfo::macs
  BenchNet ours;
  BenchNet reference;  // LibTorch, float
  // Low precision as CPT's authors simulate it; empty where there is no such form.
  std::function<BenchNet(LayerBits)> authors;

  // Multiply-accumulates of a training step: forward, error and weight-gradient pass.
  double step_macs() const;
};

// A batch of random pictures and labels that fit a network.
TensorBatch bench_pictures(const Network& network, std::int64_t count);

// A model of `bitcycle models` at its default sizes; of language models with 10,000 (lstm_lm) or
// 33,278 words (transformer_lm). Unset, a batch is 128 samples, 20 columns of 35 tokens, 4 windows
// of 512. Throws Error(usage) for an unknown model.
BenchSubject bench_subject(const std::string& model, std::optional<std::int64_t> batch = {});

}  // namespace bitcycle
