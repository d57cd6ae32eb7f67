#include "tasks/language_net.h"

#include "bitcycle/config/task_kind.h"
#include "bitcycle/data/text/bptt.h"
#include "bitcycle/data/text/windows.h"
#include "bitcycle/models/language/lstm_lm.h"
#include "bitcycle/models/language/transformer_lm.h"
#include "bitcycle/network/language_model_kind.h"

namespace bitcycle {
namespace {

// [rows, columns]
at::Tensor token_tensor(const std::vector<std::int64_t>& tokens, const TokenBatch& batch,
                        const at::Device& device) {
  at::Tensor tensor = at::empty({batch.rows, batch.columns}, at::kLong);
  std::copy(tokens.begin(), tokens.end(), tensor.data_ptr<std::int64_t>());
  return tensor.to(device);
}

struct Scored {
  at::Tensor features, targets;
};

// The positions of a batch that are scored; where all are, as they stand.
Scored scored_part(const at::Tensor& features, const at::Tensor& targets, const TokenBatch& batch) {
  if (batch.scored == batch.rows * batch.columns) return {features, targets};
  const at::Tensor places = targets.flatten().ne(kNotScored).nonzero().squeeze(1);
  return {features.flatten(0, 1).index_select(0, places).unsqueeze(0),
          targets.flatten().index_select(0, places).unsqueeze(0)};
}

class LstmNet : public LanguageNet {
 public:
  LstmNet(const Recipe& recipe, std::int64_t vocabulary, const at::Device& device)
      : recipe_(recipe),
        device_(device),
        model_(lstm_options(recipe.model, vocabulary), recipe.seed) {
    model_->to(device);
    carried_ = model_->zero_state(recipe.data.batch_size);
  }

  torch::nn::Module& module() override { return *model_; }
  std::vector<LayerInfo> layers() const override { return model_layers(model_->options()); }
  std::int64_t parameters() const override { return parameter_count(model_->options()); }

  std::shared_ptr<const TokenBatches> batches(std::shared_ptr<const TextSplit> split,
                                              TextUse use) const override {
    return bptt_batches(
        std::move(split),
        {.batch = recipe_.data.batch_size, .window = window_of(recipe_), .use = use});
  }

  at::Tensor loss(const TokenBatch& batch, TextUse use) override {
    LstmState state = use == TextUse::training ? carried_ : evaluated_;
    if (batch.start == BatchStart::epoch) state = model_->zero_state(batch.columns);
    const LstmOutput output = model_->features(token_tensor(batch.inputs, batch, device_), state);
    keep(output.state.detach(), use);
    const auto [features, targets] =
        scored_part(output.values, token_tensor(batch.targets, batch, device_), batch);
    return model_->loss(features, targets);
  }

  std::vector<std::pair<std::string, at::Tensor>> outputs(const TokenBatch& batch) override {
    const at::Tensor tokens = token_tensor(batch.inputs, batch, device_);
    const at::Tensor features = model_->features(tokens, model_->zero_state(batch.columns)).values;
    return {{"rnn", features}, {"decoder", model_->scores(features)}};
  }

  NamedTensors state() const override {
    return {{"hidden", carried_.hidden}, {"cell", carried_.cell}};
  }

 private:
  // The carried tensors stay the same ones, since others hold them as the state.
  void keep(const LstmState& state, TextUse use) {
    if (use == TextUse::evaluation) {
      evaluated_ = state;
      return;
    }
    carried_.hidden.copy_(state.hidden);
    carried_.cell.copy_(state.cell);
  }

  Recipe recipe_;
  at::Device device_;
  LstmLm model_;
  LstmState carried_, evaluated_;
};

class TransformerNet : public LanguageNet {
 public:
  TransformerNet(const Recipe& recipe, std::int64_t vocabulary, const at::Device& device)
      : recipe_(recipe),
        device_(device),
        model_(transformer_options(recipe.model, vocabulary), recipe.seed) {
    model_->to(device);
  }

  torch::nn::Module& module() override { return *model_; }
  std::vector<LayerInfo> layers() const override {
    return model_layers(model_->options(), window_of(recipe_));
  }
  std::int64_t parameters() const override { return parameter_count(model_->options()); }

  std::shared_ptr<const TokenBatches> batches(std::shared_ptr<const TextSplit> split,
                                              TextUse use) const override {
    return window_batches(std::move(split),
                          {.batch = recipe_.data.batch_size,
                           .window = window_of(recipe_),
                           .context = use == TextUse::training ? 0 : recipe_.data.context,
                           .use = use,
                           .seed = recipe_.seed});
  }

  at::Tensor loss(const TokenBatch& batch, TextUse /*use*/) override {
    const at::Tensor all = model_->features(token_tensor(batch.inputs, batch, device_));
    const auto [features, targets] =
        scored_part(all, token_tensor(batch.targets, batch, device_), batch);
    return model_->loss(features, targets);
  }

  std::vector<std::pair<std::string, at::Tensor>> outputs(const TokenBatch& batch) override {
    at::Tensor x = model_->embed(token_tensor(batch.inputs, batch, device_));
    std::vector<std::pair<std::string, at::Tensor>> outputs = {{"the embedding", x}};
    for (std::size_t i = 0; i < model_->blocks.size(); ++i) {
      x = model_->blocks[i]->forward(x);
      outputs.emplace_back("decoder.layers." + std::to_string(i), x);
    }
    return outputs;
  }

 private:
  Recipe recipe_;
  at::Device device_;
  TransformerLm model_;
};

}  // namespace

std::unique_ptr<LanguageNet> make_language_net(const Recipe& recipe, std::int64_t vocabulary,
                                               const at::Device& device) {
  if (language_model_kind(recipe.model.name) == LanguageModelKind::lstm) {
    return std::make_unique<LstmNet>(recipe, vocabulary, device);
  }
  return std::make_unique<TransformerNet>(recipe, vocabulary, device);
}

}  // namespace bitcycle
