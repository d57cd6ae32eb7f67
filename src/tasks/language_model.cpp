#include "bitcycle/tasks/language_model.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/cost/epoch_work.h"

#include "quant/finite_tensor.h"
#include "tasks/evaluation_mode.h"
#include "tasks/kept_count.h"
#include "tasks/language_net.h"

#include <cmath>
#include <numbers>

namespace bitcycle {
namespace {

constexpr const char* kVocabulary = "vocabulary.txt";

CorpusOptions corpus_options(const Recipe& recipe, const RunTexts& stored) {
  CorpusOptions options{.name = recipe.data.dataset,
                        .root = recipe.data.root,
                        .part = parse_part(recipe.data.part),
                        .validation = recipe.data.validation,
                        .test = recipe.data.test,
                        .limit = recipe.data.limit};
  if (!recipe.model.cutoffs.empty()) options.order = VocabularyOrder::frequency;
  const auto vocabulary = stored.find(kVocabulary);
  if (vocabulary != stored.end()) {
    options.vocabulary = Vocabulary::parse(vocabulary->second, kVocabulary);
  }
  return options;
}

// Sizes of a recipe may be anything; what the model takes is known before it is made.
std::int64_t checked_vocabulary(const Recipe& recipe, const Corpus& corpus) {
  const std::int64_t words = corpus.vocabulary_size();
  const auto parameters = static_cast<std::uint64_t>(language_parameters(recipe, words));
  require_memory(sizeof(float) * parameters, "keeping the weights of " + recipe.model.name,
                 "Lower the sizes of the model (docs/recipes.md, [model]).");
  return words;
}

struct ScoredText {
  double nats = 0, tokens = 0;
};

// Over `count` batches, which are asked for in order.
template <typename BatchAt>
ScoredText score_text(LanguageNet& net, std::int64_t count, BatchAt&& batch_at) {
  const EvaluationMode mode(net.module());
  ScoredText text;
  for (std::int64_t i = 0; i < count; ++i) {
    const TokenBatch& batch = batch_at(i);
    const auto scored = static_cast<double>(batch.scored);
    text.nats += net.loss(batch, TextUse::evaluation).item<double>() * scored;
    text.tokens += scored;
  }
  return text;
}

// So many tokens to score, in a row from a place that is drawn by `key`, behind one that is given.
std::shared_ptr<const TextSplit> stretch_of(const std::shared_ptr<const TextSplit>& text,
                                            std::int64_t count, RandomKey key) {
  const std::int64_t all = std::ssize(text->tokens) - 1;
  const std::int64_t kept = kept_count(count, all, "tokens");
  if (kept == all) return text;
  const auto places = static_cast<std::uint64_t>(all - kept + 1);
  const auto begin = text->tokens.begin() + static_cast<std::int64_t>(key.below(0, places));
  return std::make_shared<const TextSplit>(TextSplit{
      .origin = text->origin, .tokens = {begin, begin + kept + 1}, .size = {}, .scored_size = {}});
}

class KeptText : public KeptSamples {
 public:
  KeptText(LanguageNet& net, std::vector<TokenBatch> batches, std::int64_t tokens)
      : net_(net), batches_(std::move(batches)), tokens_(tokens) {}

  std::int64_t count() const override { return tokens_; }
  std::string unit() const override { return "tokens"; }
  Score score() override {
    const auto batch_at = [&](std::int64_t i) -> const TokenBatch& {
      return batches_[static_cast<std::size_t>(i)];
    };
    const ScoredText text = score_text(net_, std::ssize(batches_), batch_at);
    return {.metrics = metrics_of(TaskKind::language_model)
                           .measure({{"perplexity", text.nats, text.tokens},
                                     {"loss", text.nats, text.tokens}}),
            .count = tokens_,
            .unit = unit()};
  }

 private:
  LanguageNet& net_;
  std::vector<TokenBatch> batches_;
  std::int64_t tokens_;
};

}  // namespace

struct LanguageModel::Implementation {
  Implementation(const Recipe& recipe_, const at::Device& device, const RunTexts& stored)
      : recipe(recipe_),
        corpus(open_corpus(corpus_options(recipe, stored))),
        net(make_language_net(recipe, checked_vocabulary(recipe, corpus), device)),
        training(net->batches(corpus.train, TextUse::training)) {}

  std::shared_ptr<const TextSplit> split(Split which) const {
    if (which == Split::train) return corpus.train;
    return which == Split::validation ? corpus.validation : corpus.test;
  }

  Recipe recipe;
  Corpus corpus;
  std::unique_ptr<LanguageNet> net;
  std::shared_ptr<const TokenBatches> training;
  std::unique_ptr<Prefetcher<TokenBatch>> batches;
  TokenBatch batch;  // the last one
};

LanguageModel::LanguageModel(const Recipe& recipe, const at::Device& device, const RunTexts& stored)
    : implementation_(std::make_unique<Implementation>(recipe, device, stored)) {}
LanguageModel::~LanguageModel() = default;

const TaskMetrics& LanguageModel::metrics() const {
  return metrics_of(TaskKind::language_model);
}
torch::nn::Module& LanguageModel::model() {
  return implementation_->net->module();
}
std::vector<LayerInfo> LanguageModel::layers() const {
  return implementation_->net->layers();
}
std::int64_t LanguageModel::batches_per_epoch() const {
  return implementation_->training->steps_per_epoch();
}
std::optional<double> LanguageModel::work_of_batches(std::int64_t count) const {
  const TokenBatches& training = *implementation_->training;
  const EpochWork epoch{.batches = training.steps_per_epoch(),
                        .whole = training.tokens_per_epoch(),
                        .batch = training.batch_tokens()};
  return epoch.of_batches(count);
}
std::string LanguageModel::data_fingerprint() {
  return implementation_->corpus.fingerprint();
}
NamedTensors LanguageModel::state() const {
  return implementation_->net->state();
}

RunTexts LanguageModel::texts() const {
  const Corpus& corpus = implementation_->corpus;
  if (corpus.level == TokenLevel::byte) return {};
  return {{kVocabulary, corpus.vocabulary.text()}};
}

// The least that a step takes: weights and their gradients, and a score per token and word with its
// gradient.
void LanguageModel::require_trainable() {
  const Implementation& self = *implementation_;
  if (self.corpus.test == nullptr) {
    throw Error(ErrorCode::data, "there is no text to test on: data.test is 0",
                "Hold out a part of the text, for instance data.test = 0.1.");
  }
  const double scores = static_cast<double>(self.training->batch_tokens()) *
                        static_cast<double>(self.corpus.vocabulary_size());
  const double least = 2 * sizeof(float) * (static_cast<double>(self.net->parameters()) + scores);
  require_memory(static_cast<std::uint64_t>(least),
                 "a training step of " + self.recipe.model.name +
                     " with data.batch_size = " + std::to_string(self.recipe.data.batch_size),
                 "This is the least it takes. Lower data.batch_size, data.window or the sizes of "
                 "the model.");
}

void LanguageModel::start(std::int64_t first_batch) {
  Implementation& self = *implementation_;
  self.batches.reset(new Prefetcher<TokenBatch>(
      prefetch(self.training, {.workers = self.recipe.data.workers, .first_step = first_batch})));
}

TaskLoss LanguageModel::next_loss() {
  Implementation& self = *implementation_;
  self.batch = self.batches->next(std::move(self.batch));
  const at::Tensor loss = self.net->loss(self.batch, TextUse::training);
  const auto scored = static_cast<double>(self.batch.scored);
  const double nats = loss.item<double>() * scored;
  return {.loss = loss,
          .metrics = {{"loss", nats, scored}, {"perplexity", nats, scored}},
          .work = static_cast<double>(self.batch.rows * self.batch.columns)};
}

std::string LanguageModel::first_nonfinite_layer() {
  const torch::NoGradGuard no_grad;
  Implementation& self = *implementation_;
  for (const auto& [name, output] : self.net->outputs(self.batch)) {
    if (!finite_tensor(output)) return name;
  }
  return "";
}

Score LanguageModel::evaluate(Split which) {
  return evaluate_in_batches(which, [] {});
}

Score LanguageModel::evaluate_in_batches(Split which,
                                         const std::function<void()>& between_batches) {
  Implementation& self = *implementation_;
  const auto split = self.split(which);
  const auto batches = self.net->batches(split, TextUse::evaluation);
  auto ahead = prefetch(batches, {.workers = self.recipe.data.workers});
  const ScoredText text = score_text(*self.net, batches->steps_per_epoch(), [&](std::int64_t) {
    between_batches();
    return ahead.next();
  });
  const double characters = static_cast<double>(split->scored_size.characters);
  return {.metrics = metrics().measure(
              {{"perplexity", text.nats, text.tokens},
               {"loss", text.nats, text.tokens},
               {"bits_per_character", text.nats / std::numbers::ln2, characters}}),
          .count = static_cast<std::int64_t>(text.tokens),
          .unit = "tokens"};
}

std::unique_ptr<KeptSamples> LanguageModel::keep_samples(std::int64_t count, RandomKey key) {
  Implementation& self = *implementation_;
  const auto split = stretch_of(self.corpus.train, count, key);
  const auto batches = self.net->batches(split, TextUse::evaluation);
  std::vector<TokenBatch> kept;
  for (std::int64_t i = 0; i < batches->steps_per_epoch(); ++i) kept.push_back(batches->make(i));
  return std::make_unique<KeptText>(*self.net, std::move(kept), batches->scored_per_epoch());
}

}  // namespace bitcycle
