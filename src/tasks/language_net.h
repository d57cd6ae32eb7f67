#pragma once

// What the language-model task needs of a model: an LSTM carries its state from batch to batch, a
// Transformer sees windows of their own.

#include "bitcycle/config/recipe.h"
#include "bitcycle/data/text/corpus.h"
#include "bitcycle/data/text/token_batch.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/named_tensors.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

class LanguageNet {
 public:
  virtual ~LanguageNet() = default;

  virtual torch::nn::Module& module() = 0;
  virtual std::vector<LayerInfo> layers() const = 0;
  virtual std::int64_t parameters() const = 0;
  virtual std::shared_ptr<const TokenBatches> batches(std::shared_ptr<const TextSplit> split,
                                                      TextUse use) const = 0;

  // Mean cross entropy in nats of what the batch scores. Training goes on from the state of the
  // training batch before, evaluation from that of the evaluation batch before.
  virtual at::Tensor loss(const TokenBatch& batch, TextUse use) = 0;
  // What the model's parts make of a batch, in their order, to find where values go wrong.
  virtual std::vector<std::pair<std::string, at::Tensor>> outputs(const TokenBatch& batch) = 0;
  // What training carries from batch to batch; shares memory with the net.
  virtual NamedTensors state() const { return {}; }
};

std::unique_ptr<LanguageNet> make_language_net(const Recipe& recipe, std::int64_t vocabulary,
                                               const at::Device& device);

}  // namespace bitcycle
