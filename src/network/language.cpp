#include "bitcycle/network/language.h"

#include "bitcycle/base/error.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

LayerInfo linear(std::string name, std::int64_t in, std::int64_t out) {
  LayerInfo layer{.name = std::move(name), .kind = LayerKind::linear, .macs = in * out};
  layer.geometry.in_channels = in;
  layer.geometry.out_channels = out;
  return layer;
}

LayerInfo float_linear(std::string name, std::int64_t in, std::int64_t out) {
  LayerInfo layer = linear(std::move(name), in, out);
  layer.precision = LayerPrecision::full;
  return layer;
}

// One of the products of attention: every head multiplies its `in` values per token by a matrix
// that the tokens themselves make.
LayerInfo product(std::string name, std::int64_t in, std::int64_t out, std::int64_t heads) {
  LayerInfo layer = float_linear(std::move(name), in, out);
  layer.kind = LayerKind::product;
  layer.geometry.groups = heads;
  layer.macs = in * out / heads;
  return layer;
}

void add_block(std::vector<LayerInfo>& layers, const TransformerOptions& o, std::int64_t i,
               std::int64_t window) {
  const std::string path = fmt::format("decoder.layers.{}.", i);
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    layers.push_back(linear(path + "self_attn." + name, o.width, o.width));
  }
  layers.push_back(product(path + "self_attn.scores", o.width, o.heads * window, o.heads));
  layers.push_back(product(path + "self_attn.context", o.heads * window, o.width, o.heads));
  layers.push_back(linear(path + "fc1", o.width, o.inner));
  layers.push_back(linear(path + "fc2", o.inner, o.width));
}

void add_adaptive_softmax(std::vector<LayerInfo>& layers, const TransformerOptions& o) {
  const std::string path = "decoder.adaptive_softmax.";
  const std::vector<WordBand> bands = word_bands(o);
  const auto tails = static_cast<std::int64_t>(o.cutoffs.size());
  if (o.tied) {
    layers.push_back(linear(path + "head.word_proj", o.width, bands[0].words()));
    layers.push_back(linear(path + "head.class_proj", o.width, tails));
  } else {
    layers.push_back(linear(path + "head", o.width, bands[0].words() + tails));
  }
  for (std::size_t i = 1; i < bands.size(); ++i) {
    const std::string tail = fmt::format("{}tail.{}.", path, i - 1);
    layers.push_back(linear(tail + "0", o.width, bands[i].width));
    layers.push_back(linear(tail + "1", bands[i].width, bands[i].words()));
  }
}

}  // namespace

std::vector<WordBand> word_bands(const TransformerOptions& options) {
  std::vector<WordBand> bands;
  std::int64_t first = 0, width = options.width;
  for (const std::int64_t cutoff : options.cutoffs) {
    bands.push_back({first, cutoff, width});
    first = cutoff;
    width /= options.factor;
  }
  bands.push_back({first, options.vocabulary, width});
  return bands;
}

std::vector<LayerInfo> model_layers(const LstmOptions& options) {
  check(options);
  std::vector<LayerInfo> layers;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::int64_t in = i == 0 ? options.embedding_size() : options.hidden;
    layers.push_back(linear(fmt::format("rnn.ih_l{}", i), in, 4 * options.hidden));
    layers.push_back(linear(fmt::format("rnn.hh_l{}", i), options.hidden, 4 * options.hidden));
  }
  layers.push_back(linear("decoder", options.hidden, options.vocabulary));
  return layers;
}

std::vector<LayerInfo> model_layers(const TransformerOptions& options, std::int64_t window) {
  check(options);
  if (window < 1) {
    throw Error(ErrorCode::usage,
                fmt::format("transformer_lm needs a window of at least 1 token, found {}", window),
                "Choose how many tokens it sees at once.");
  }
  std::vector<LayerInfo> layers;
  const std::vector<WordBand> bands = word_bands(options);
  for (std::size_t i = 0; bands.size() > 1 && i < bands.size(); ++i) {
    layers.push_back(float_linear(fmt::format("decoder.embed_tokens.embeddings.{}.1", i),
                                  bands[i].width, options.width));
  }
  for (std::int64_t i = 0; i < options.layers; ++i) add_block(layers, options, i, window);
  if (bands.size() > 1) {
    add_adaptive_softmax(layers, options);
  } else {
    layers.push_back(linear("decoder.output_projection", options.width, options.vocabulary));
  }
  return layers;
}

std::int64_t parameter_count(const LstmOptions& options) {
  std::int64_t count = options.vocabulary * options.embedding_size();
  for (const LayerInfo& layer : model_layers(options)) {
    const bool shared = options.tied && layer.name == "decoder";
    count += (shared ? 0 : layer.macs) + layer.geometry.out_channels;
  }
  return count;
}

std::int64_t parameter_count(const TransformerOptions& o) {
  check(o);
  const std::int64_t norm = 2 * o.width;
  const std::int64_t attention = 4 * (o.width * o.width + o.width);
  const std::int64_t feed_forward = 2 * o.width * o.inner + o.inner + o.width;
  std::int64_t count = o.layers * (attention + feed_forward + 2 * norm) + (o.final_norm ? norm : 0);
  const std::vector<WordBand> bands = word_bands(o);
  const bool adaptive = bands.size() > 1;
  std::int64_t words = 0;
  for (const WordBand& band : bands) {
    words += band.words() * band.width + (adaptive ? band.width * o.width : 0);
  }
  const auto tails = static_cast<std::int64_t>(o.cutoffs.size());
  count += words + tails * o.width;
  if (o.tied) return count;
  // The first band's projection has no counterpart in the output layer.
  return count + words - (adaptive ? o.width * o.width : 0);
}

}  // namespace bitcycle
