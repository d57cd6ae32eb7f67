#pragma once

// The language models' sizes, and the layers that follow from them: an LSTM as in PyTorch's
// word_language_model, and a decoder-only Transformer as in fairseq (spec: CPT 3.5, 3.6). The
// modules themselves are in bitcycle/models/language/. The unit of work is a token.

#include "bitcycle/network/layer_info.h"

#include <optional>
#include <vector>

namespace bitcycle {

struct LstmOptions {
  std::int64_t vocabulary = 0;
  std::int64_t layers = 2;
  std::int64_t hidden = 650;
  std::int64_t embedding = 0;  // 0: as hidden
  bool tied = false;           // whether the decoder's weight is the embedding
  double dropout = 0.2;        // of the embedding's, every layer's and the last layer's output

  std::int64_t embedding_size() const { return embedding == 0 ? hidden : embedding; }
};

struct TransformerOptions {
  std::int64_t vocabulary = 0;
  std::int64_t layers = 6;
  std::int64_t width = 512;
  std::int64_t inner = 2048;
  std::int64_t heads = 8;
  double dropout = 0.1;
  double attention_dropout = 0.0;
  double activation_dropout = 0.0;
  double softmax_dropout = 0.0;  // of the adaptive softmax's projections
  bool final_norm = true;
  bool tied = true;  // whether the output layer's weights (and projections) are the input's
  std::vector<std::int64_t> cutoffs;    // of adaptive input and softmax; empty: neither
  std::int64_t factor = 4;              // by which each band of words is narrower than the last
  std::optional<std::int64_t> padding;  // a token that is no word: it is seen as nothing
};

// A band of words [first, last) of the adaptive input and softmax, and its width.
struct WordBand {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t width = 0;
  std::int64_t words() const { return last - first; }
};
// Without cut-offs one band of the whole vocabulary.
std::vector<WordBand> word_bands(const TransformerOptions& options);

// Throw Error(usage) that says which size no such model has, and what it should be.
void check(const LstmOptions& options);
void check(const TransformerOptions& options);

// The layers that cost something, in the order of their registration: the quantized ones, and with
// LayerPrecision::full those that stay in float.
std::vector<LayerInfo> model_layers(const LstmOptions& options);
// Attention's products are counted for windows of `window` tokens, as they are computed without
// regard to the mask. Of adaptive layers every band counts for every token: how many tokens pass a
// band depends on the text, so this is an upper bound.
std::vector<LayerInfo> model_layers(const TransformerOptions& options, std::int64_t window);

// Trained parameters; shared ones count once.
std::int64_t parameter_count(const LstmOptions& options);
std::int64_t parameter_count(const TransformerOptions& options);

}  // namespace bitcycle
