#include "bitcycle/models/language/adaptive.h"

#include "bitcycle/quant/layer_function.h"

#include "models/module_tree.h"

namespace bitcycle {
namespace {

std::optional<std::int64_t> padding_in(const WordBand& band, const TransformerOptions& options) {
  if (!options.padding || *options.padding < band.first || *options.padding >= band.last) return {};
  return *options.padding - band.first;
}

QuantLinear output_linear(std::int64_t in, std::int64_t out, WeightOwner owner) {
  return QuantLinear(torch::nn::LinearOptions(in, out).bias(false), owner);
}

// The places of tokens that belong to a band.
at::Tensor places_in(const WordBand& band, const at::Tensor& tokens) {
  return tokens.ge(band.first).logical_and_(tokens.lt(band.last)).nonzero().squeeze(1);
}

}  // namespace

// The float case of a quantized layer, whose weight gradient does not depend on threads.
at::Tensor FloatProjectionImpl::forward(const at::Tensor& x) const {
  return quantized_linear(x, weight, LayerCall{});
}

AdaptiveInputImpl::AdaptiveInputImpl(const TransformerOptions& options)
    : width_(options.width), bands_(word_bands(options)) {
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const std::string path = "embeddings." + std::to_string(i);
    const WordBand& band = bands_[i];
    tables_.emplace_back(TokenTable(band.words(), band.width, padding_in(band, options)));
    projections_.emplace_back(FloatProjection(band.width, width_));
    register_at_path(*this, path + ".0", tables_.back().ptr());
    register_at_path(*this, path + ".1", projections_.back().ptr());
  }
}

at::Tensor AdaptiveInputImpl::forward(const at::Tensor& tokens) const {
  const at::Tensor flat = tokens.flatten();
  at::Tensor out = at::zeros({flat.size(0), width_}, tables_[0]->weight.options());
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const at::Tensor places = places_in(bands_[i], flat);
    if (places.numel() == 0) continue;
    const at::Tensor words = flat.index_select(0, places) - bands_[i].first;
    out = out.index_copy(0, places, projections_[i]->forward(tables_[i]->forward(words)));
  }
  std::vector<std::int64_t> sizes = tokens.sizes().vec();
  sizes.push_back(width_);
  return out.view(sizes);
}

void AdaptiveInputImpl::clear_row(std::int64_t token) {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    if (token < bands_[i].first || token >= bands_[i].last) continue;
    tables_[i]->weight[token - bands_[i].first].zero_();
  }
}

AdaptiveSoftmaxImpl::AdaptiveSoftmaxImpl(const TransformerOptions& options, AdaptiveInput input)
    : bands_(word_bands(options)),
      input_(std::move(input)),
      dropout_(register_module("dropout", StepDropout(options.softmax_dropout))),
      head_(nullptr),
      classes_(nullptr) {
  const std::int64_t width = options.width, words = bands_[0].words();
  const auto classes = static_cast<std::int64_t>(bands_.size()) - 1;
  const WeightOwner owner = input_ ? WeightOwner::caller : WeightOwner::layer;
  head_ = output_linear(width, input_ ? words : words + classes, owner);
  register_at_path(*this, input_ ? "head.word_proj" : "head", head_.ptr());
  if (input_) {
    classes_ = output_linear(width, classes, WeightOwner::layer);
    register_at_path(*this, "head.class_proj", classes_.ptr());
  }
  for (std::size_t i = 1; i < bands_.size(); ++i) {
    const std::string path = "tail." + std::to_string(i - 1);
    tails_.push_back({output_linear(width, bands_[i].width, owner),
                      output_linear(bands_[i].width, bands_[i].words(), owner)});
    register_at_path(*this, path + ".0", tails_.back().projection.ptr());
    register_at_path(*this, path + ".1", tails_.back().words.ptr());
  }
}

at::Tensor AdaptiveSoftmaxImpl::head_scores(const at::Tensor& x) {
  if (!input_) return head_->forward(x);
  return at::cat({head_->forward(x, input_->table(0)), classes_->forward(x)}, 1);
}

at::Tensor AdaptiveSoftmaxImpl::tail_scores(std::size_t band, const at::Tensor& x) {
  Tail& tail = tails_[band - 1];
  const at::Tensor projected = input_ ? tail.projection->forward(x, input_->projection(band).t())
                                      : tail.projection->forward(x);
  const at::Tensor kept = dropout_->forward(projected);
  return input_ ? tail.words->forward(kept, input_->table(band)) : tail.words->forward(kept);
}

at::Tensor AdaptiveSoftmaxImpl::log_probabilities(const at::Tensor& hidden) {
  const at::Tensor x = dropout_->forward(hidden);
  const at::Tensor head = head_scores(x).log_softmax(1);
  std::vector<at::Tensor> parts = {head.narrow(1, 0, bands_[0].words())};
  for (std::size_t i = 1; i < bands_.size(); ++i) {
    const auto of_class = bands_[0].words() + static_cast<std::int64_t>(i) - 1;
    parts.push_back(head.narrow(1, of_class, 1) + tail_scores(i, x).log_softmax(1));
  }
  return at::cat(parts, 1);
}

at::Tensor AdaptiveSoftmaxImpl::target_log_probabilities(const at::Tensor& hidden,
                                                         const at::Tensor& targets) {
  const at::Tensor x = dropout_->forward(hidden);
  at::Tensor in_head = targets.clone();  // the target's word or class
  at::Tensor within = at::zeros({targets.size(0)}, hidden.options());
  for (std::size_t i = 1; i < bands_.size(); ++i) {
    const at::Tensor places = places_in(bands_[i], targets);
    if (places.numel() == 0) continue;
    in_head.index_fill_(0, places, bands_[0].words() + static_cast<std::int64_t>(i) - 1);
    const at::Tensor words = targets.index_select(0, places) - bands_[i].first;
    const at::Tensor scores = tail_scores(i, x.index_select(0, places)).log_softmax(1);
    within = within.index_copy(0, places, scores.gather(1, words.unsqueeze(1)).squeeze(1));
  }
  return head_scores(x).log_softmax(1).gather(1, in_head.unsqueeze(1)).squeeze(1) + within;
}

}  // namespace bitcycle
