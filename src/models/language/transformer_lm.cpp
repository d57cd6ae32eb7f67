#include "bitcycle/models/language/transformer_lm.h"

#include "bitcycle/quant/cross_entropy_function.h"

#include "models/initial_values.h"
#include "models/module_tree.h"

#include <cmath>

namespace bitcycle {
namespace {

constexpr std::int64_t kFairseqPadding = 1;  // the first token's position is 2

TransformerOptions checked_options(const TransformerOptions& options) {
  check(options);
  return options;
}

// Xavier's uniform of a matrix.
void fill_xavier(const at::Tensor& weight, RandomKey key, double gain) {
  const auto fans = static_cast<double>(weight.size(0) + weight.size(1));
  fill_uniform(weight, key, gain * std::sqrt(6.0 / fans));
}

// LibTorch's start of a linear layer: weight and bias uniform within 1/sqrt(in).
void fill_fan_in(const at::Tensor& parameter, RandomKey key, std::int64_t in) {
  fill_uniform(parameter, key, 1.0 / std::sqrt(static_cast<double>(in)));
}

// fairseq's start: tables and an output layer of its own normal with deviation width^-0.5;
// attention's projections Xavier's uniform, with gain 1/sqrt(2) for q, k and v; out_proj's bias 0;
// projections of adaptive layers and their softmax Xavier's; fc1, fc2 and the biases of q, k and v
// as LibTorch's linear layers start. Norms start as the identity.
void fill_parameter(const std::string& name, const at::Tensor& value, RandomKey key,
                    const TransformerOptions& options) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool words = has("embed_tokens.") && !name.ends_with(".1.weight");
  const bool feed_forward = has("fc1.") || has("fc2.");
  if (has("layer_norm.")) return;
  if (has("out_proj.bias")) {
    value.zero_();
  } else if (words || has("output_projection.")) {
    fill_normal(value, key, 1.0 / std::sqrt(static_cast<double>(value.size(1))));
  } else if (feed_forward || value.dim() == 1) {
    fill_fan_in(value, key, has("fc2.") ? options.inner : options.width);
  } else {
    fill_xavier(value, key, has("self_attn.") && !has("out_proj.") ? std::sqrt(0.5) : 1.0);
  }
}

}  // namespace

at::Tensor sinusoidal_positions(std::int64_t count, std::int64_t width, std::int64_t padding) {
  const std::int64_t half = width / 2;
  const at::Tensor frequencies =
      at::exp(at::arange(half, at::kDouble) * (-std::log(10000.0) / static_cast<double>(half - 1)));
  const at::Tensor angles = at::arange(count, at::kDouble).unsqueeze(1) * frequencies;
  at::Tensor table = at::cat({angles.sin(), angles.cos()}, 1);
  if (width % 2 != 0) table = at::constant_pad_nd(table, {0, 1});
  if (padding < count) table[padding].zero_();
  return table.to(at::kFloat);
}

TransformerLmImpl::TransformerLmImpl(const TransformerOptions& options, std::uint64_t seed)
    : final_norm(nullptr),
      adaptive_input(nullptr),
      adaptive_softmax(nullptr),
      table(nullptr),
      output(nullptr),
      options_(checked_options(options)),
      dropout_(options.dropout) {
  register_at_path(*this, "decoder.dropout", dropout_.ptr());
  build_input();
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks.emplace_back(TransformerBlock(options));
    register_at_path(*this, "decoder.layers." + std::to_string(i), blocks.back().ptr());
  }
  if (options.final_norm) {
    final_norm = LayerNorm(options.width);
    register_at_path(*this, "decoder.layer_norm", final_norm.ptr());
  }
  build_output();
  initialise(seed);
}

void TransformerLmImpl::build_input() {
  const std::string path = "decoder.embed_tokens";
  if (options_.cutoffs.empty()) {
    table = TokenTable(options_.vocabulary, options_.width, options_.padding);
    register_at_path(*this, path, table.ptr());
  } else {
    adaptive_input = AdaptiveInput(options_);
    register_at_path(*this, path, adaptive_input.ptr());
  }
}

void TransformerLmImpl::build_output() {
  if (options_.cutoffs.empty()) {
    output = QuantLinear(torch::nn::LinearOptions(options_.width, options_.vocabulary).bias(false),
                         options_.tied ? WeightOwner::caller : WeightOwner::layer);
    register_at_path(*this, "decoder.output_projection", output.ptr());
  } else {
    const AdaptiveInput shared = options_.tied ? adaptive_input : AdaptiveInput(nullptr);
    adaptive_softmax = AdaptiveSoftmax(options_, shared);
    register_at_path(*this, "decoder.adaptive_softmax", adaptive_softmax.ptr());
  }
}

void TransformerLmImpl::initialise(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const RandomKey key = RandomKey(seed).derive("init");
  for (const auto& item : named_parameters()) {
    fill_parameter(item.key(), item.value(), key.derive(item.key()), options_);
  }
  if (options_.padding && table) table->weight[*options_.padding].zero_();
  if (options_.padding && adaptive_input) adaptive_input->clear_row(*options_.padding);
}

// Each token's row of the table. Padding stands at its own row, which is zero, and does not count.
at::Tensor TransformerLmImpl::positions(const at::Tensor& tokens) {
  const std::int64_t before = options_.padding.value_or(kFairseqPadding), time = tokens.size(1);
  if (!position_table_.defined() || position_table_.size(0) < before + 1 + time) {
    position_table_ =
        sinusoidal_positions(before + 1 + time, options_.width, before).to(tokens.device());
  }
  if (!options_.padding) return position_table_.narrow(0, before + 1, time);
  const at::Tensor words = tokens.ne(*options_.padding).to(at::kLong);
  return at::embedding(position_table_, words.cumsum(1) * words + before);
}

at::Tensor TransformerLmImpl::embed(const at::Tensor& tokens) {
  const at::Tensor rows = table ? table->forward(tokens) : adaptive_input->forward(tokens);
  const double scale = std::sqrt(static_cast<double>(options_.width));
  return dropout_->forward(rows * scale + positions(tokens));
}

at::Tensor TransformerLmImpl::features(const at::Tensor& tokens) {
  at::Tensor x = embed(tokens);
  for (TransformerBlock& block : blocks) x = block->forward(x);
  return final_norm ? final_norm->forward(x) : x;
}

at::Tensor TransformerLmImpl::scores(const at::Tensor& features) {
  if (output) return output->forward(features, options_.tied ? table->weight : output->weight);
  const at::Tensor rows = adaptive_softmax->log_probabilities(features.flatten(0, 1));
  return rows.view({features.size(0), features.size(1), options_.vocabulary});
}

at::Tensor TransformerLmImpl::loss(const at::Tensor& features, const at::Tensor& targets) {
  at::Tensor rows = features.flatten(0, 1), words = targets.flatten();
  if (output) {
    return mean_cross_entropy(scores(features).flatten(0, 1), words, options_.padding);
  }
  if (options_.padding) {
    const at::Tensor places = words.ne(*options_.padding).nonzero().squeeze(1);
    rows = rows.index_select(0, places);
    words = words.index_select(0, places);
  }
  return adaptive_softmax->target_log_probabilities(rows, words).mean().neg();
}

}  // namespace bitcycle
