#pragma once

// Adaptive input and softmax (Baevski and Auli 2019; Grave et al. 2017): the rarer its words, the
// narrower a band. Input: a word's row of its band's table times the band's projection. Output: the
// head scores the first band's words and one class per further band; within a band words are scored
// through its projection,
//
//   log p(w) = log softmax(head)[w],                        w in the first band
//            = log softmax(head)[class of band i] + log softmax(band i)[w]   else.
//
// Tied, the softmax uses the input's tables and projections (but not the first band's projection).
// The input's products stay in float, the softmax's are quantized.

#include "bitcycle/network/language.h"
#include "bitcycle/nn/dropout.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/nn/token_table.h"

#include <vector>

namespace bitcycle {

// A projection in float without a bias, [out, in].
class FloatProjectionImpl : public torch::nn::Module {
 public:
  FloatProjectionImpl(std::int64_t in, std::int64_t out)
      : weight(register_parameter("weight", at::zeros({out, in}))) {}
  at::Tensor forward(const at::Tensor& x) const;

  at::Tensor weight;
};
TORCH_MODULE(FloatProjection);

class AdaptiveInputImpl : public torch::nn::Module {
 public:
  explicit AdaptiveInputImpl(const TransformerOptions& options);

  // Tokens of any shape to [..., width].
  at::Tensor forward(const at::Tensor& tokens) const;

  // Sets a token's row to zero.
  void clear_row(std::int64_t token);

  const at::Tensor& table(std::size_t band) const { return tables_[band]->weight; }
  const at::Tensor& projection(std::size_t band) const { return projections_[band]->weight; }

 private:
  std::int64_t width_;
  std::vector<WordBand> bands_;
  std::vector<TokenTable> tables_;            // embeddings.<band>.0
  std::vector<FloatProjection> projections_;  // embeddings.<band>.1
};
TORCH_MODULE(AdaptiveInput);

class AdaptiveSoftmaxImpl : public torch::nn::Module {
 public:
  // `input` is what a tied softmax shares its weights with, else null.
  AdaptiveSoftmaxImpl(const TransformerOptions& options, AdaptiveInput input);

  // hidden [rows, width] to log-probabilities [rows, vocabulary].
  at::Tensor log_probabilities(const at::Tensor& hidden);
  // Those of the targets [rows] alone: of a band only the rows whose target it holds pass.
  at::Tensor target_log_probabilities(const at::Tensor& hidden, const at::Tensor& targets);

 private:
  struct Tail {
    QuantLinear projection, words;
  };
  at::Tensor head_scores(const at::Tensor& x);
  at::Tensor tail_scores(std::size_t band, const at::Tensor& x);

  std::vector<WordBand> bands_;
  AdaptiveInput input_;
  StepDropout dropout_;
  QuantLinear head_, classes_;  // classes_ is null where the head has them
  std::vector<Tail> tails_;
};
TORCH_MODULE(AdaptiveSoftmax);

}  // namespace bitcycle
