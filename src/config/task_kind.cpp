#include "bitcycle/config/task_kind.h"

#include "bitcycle/config/scheme_traits.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/data/text/corpus.h"
#include "bitcycle/network/gates.h"
#include "bitcycle/network/language_model_kind.h"
#include "bitcycle/network/zoo.h"

namespace bitcycle {
namespace {

bool is_lstm(std::string_view model) {
  return language_model_kind(model) == LanguageModelKind::lstm;
}

// The pictures of a dataset, as the network sees them.
ImageShape shape_of(const DataRecipe& data) {
  if (data.dataset == "image_folder") return {3, data.image_size, data.image_size};
  return data.dataset == "fashion_mnist" ? ImageShape{1, 28, 28} : ImageShape{3, 32, 32};
}

// Those of a folder are not known without it.
std::optional<int> classes_of(std::string_view dataset) {
  if (dataset == "image_folder") return std::nullopt;
  return dataset == "cifar100" ? 100 : 10;
}

}  // namespace

TaskKind task_of(std::string_view model) {
  return language_model_kind(model) ? TaskKind::language_model : TaskKind::image_classification;
}

const TaskMetrics& metrics_of(TaskKind task) {
  static const TaskMetrics classification = {
      {.name = "accuracy", .form = MetricForm::percent, .better = Better::higher},
      {.name = "loss"},
      {.name = "total_loss"},  // this and cp: where gates choose the precision
      {.name = "cp"}};
  static const TaskMetrics language = {{.name = "perplexity", .form = MetricForm::exponential},
                                       {.name = "loss"},
                                       {.name = "bits_per_character"}};
  return task == TaskKind::language_model ? language : classification;
}

std::string_view work_unit(TaskKind task) {
  return task == TaskKind::language_model ? "token" : "sample";
}

std::vector<std::string> datasets_of(TaskKind task) {
  return task == TaskKind::language_model ? corpus_names() : dataset_names();
}

bool has_validation(const DataRecipe& data) {
  const bool own = is_corpus(data.dataset) && data.dataset != "text";
  return own || data.validation > 0;
}

Network picture_network(const Recipe& recipe) {
  NetworkOptions options{recipe.model.classes, shape_of(recipe.data)};
  if (!options.classes) options.classes = classes_of(recipe.data.dataset);
  return for_precision(make_network(recipe.model.name, options), recipe.precision);
}

Network for_precision(Network network, const PrecisionRecipe& precision) {
  network = in_scheme(std::move(network), precision.scheme);
  if (!precision.dynamic) return network;
  return gated(std::move(network), static_cast<int>(precision.dynamic->options.size()));
}

LstmOptions lstm_options(const ModelRecipe& recipe, std::int64_t vocabulary) {
  LstmOptions options{.vocabulary = vocabulary,
                      .hidden = recipe.hidden,
                      .embedding = recipe.embedding,
                      .tied = recipe.tied.value_or(LstmOptions().tied)};
  options.layers = recipe.layers.value_or(static_cast<int>(options.layers));
  options.dropout = recipe.dropout.value_or(options.dropout);
  return options;
}

TransformerOptions transformer_options(const ModelRecipe& recipe, std::int64_t vocabulary) {
  TransformerOptions options{.vocabulary = vocabulary,
                             .width = recipe.width,
                             .inner = recipe.inner,
                             .heads = recipe.heads,
                             .attention_dropout = recipe.attention_dropout,
                             .activation_dropout = recipe.activation_dropout,
                             .softmax_dropout = recipe.softmax_dropout,
                             .final_norm = recipe.final_norm,
                             .tied = recipe.tied.value_or(TransformerOptions().tied),
                             .factor = recipe.factor};
  options.layers = recipe.layers.value_or(static_cast<int>(options.layers));
  options.dropout = recipe.dropout.value_or(options.dropout);
  for (const double cutoff : recipe.cutoffs) {
    options.cutoffs.push_back(static_cast<std::int64_t>(cutoff));
  }
  return options;
}

std::int64_t usual_vocabulary(std::string_view model) {
  return is_lstm(model) ? 10'000 : 33'278;
}

std::int64_t published_vocabulary(const DataRecipe& data) {
  if (data.dataset == "ptb") return 10'000;
  if (data.dataset == "wikitext2") return 33'278;
  if (data.dataset == "wikitext103") return 267'735;
  return 256;
}

std::int64_t window_of(const Recipe& recipe) {
  constexpr int kLstmWindow = 35, kTransformerWindow = 512;
  return recipe.data.window.value_or(is_lstm(recipe.model.name) ? kLstmWindow : kTransformerWindow);
}

std::vector<LayerInfo> language_layers(const Recipe& recipe, std::int64_t vocabulary) {
  if (is_lstm(recipe.model.name)) {
    const LstmOptions options = lstm_options(recipe.model, vocabulary);
    check(options);
    return model_layers(options);
  }
  const TransformerOptions options = transformer_options(recipe.model, vocabulary);
  check(options);
  return model_layers(options, window_of(recipe));
}

std::int64_t language_parameters(const Recipe& recipe, std::int64_t vocabulary) {
  return is_lstm(recipe.model.name)
             ? parameter_count(lstm_options(recipe.model, vocabulary))
             : parameter_count(transformer_options(recipe.model, vocabulary));
}

}  // namespace bitcycle
