#include "cli/cost/cost_subject.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/network/language_model_kind.h"
#include "bitcycle/network/zoo.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& model) {
  throw Error(ErrorCode::usage, fmt::format("{} does not apply to {}", option, model),
              "`bitcycle cost --help` says what does.");
}

Network network_of(const CostSubjectOptions& options) {
  NetworkOptions network{options.classes, std::nullopt};
  if (!options.image_size && !options.channels) return make_network(options.model, network);
  ImageShape input = make_network(options.model).input;
  if (options.channels) input.channels = *options.channels;
  if (options.image_size) input.height = input.width = *options.image_size;
  network.input = input;
  return make_network(options.model, network);
}

CostSubject pictures_subject(const Network& network) {
  const ImageShape& input = network.input;
  return {.name = network.name,
          .shape = fmt::format("{} classes, {}x{}x{}", network.classes, input.channels,
                               input.height, input.width),
          .shape_json = {{"classes", network.classes},
                         {"input", {input.channels, input.height, input.width}}},
          .parameters = network.parameters(),
          .layers = layers_of(network),
          .unit = "sample"};
}

CostSubject pictures_subject(const CostSubjectOptions& options) {
  if (options.vocabulary) refuse("--vocabulary", options.model);
  if (!options.settings.empty()) refuse("--set", options.model);
  return pictures_subject(network_of(options));
}

// Those of recipes/ptb-lstm-cpt.toml, 40 epochs of 929,589 tokens, and wikitext2-transformer-cpt.
UsualRun usual_language_run(const Recipe& recipe) {
  const std::int64_t window = window_of(recipe);
  if (language_model_kind(recipe.model.name) == LanguageModelKind::lstm) {
    return {53'120, 20 * window, fmt::format("40 epochs of PTB, 20 windows of {} a step", window)};
  }
  return {20'000, 4 * window, fmt::format("4 windows of {} a step", window)};
}

CostSubject language_subject(const Recipe& recipe, std::int64_t words) {
  return {.name = recipe.model.name,
          .shape = fmt::format("{} words, windows of {} tokens", words, window_of(recipe)),
          .shape_json = {{"vocabulary", words}, {"window", window_of(recipe)}},
          .parameters = language_parameters(recipe, words),
          .layers = language_layers(recipe, words),
          .unit = "token",
          .usual = usual_language_run(recipe)};
}

CostSubject language_subject(const CostSubjectOptions& options) {
  if (options.classes) refuse("--classes", options.model);
  if (options.image_size) refuse("--image-size", options.model);
  if (options.channels) refuse("--channels", options.model);
  const std::int64_t words = options.vocabulary.value_or(usual_vocabulary(options.model));
  const Recipe recipe = parse_recipe(
      "epochs = 1\n[model]\nname = \"" + options.model + "\"\n[data]\ndataset = \"ptb\"\n",
      "the model", options.settings);
  return language_subject(recipe, words);
}

}  // namespace

CostSubject cost_subject(const CostSubjectOptions& options) {
  return task_of(options.model) == TaskKind::language_model ? language_subject(options)
                                                            : pictures_subject(options);
}

CostSubject recipe_subject(const Recipe& recipe, std::optional<std::int64_t> words) {
  if (task_of(recipe.model.name) == TaskKind::image_classification) {
    return pictures_subject(picture_network(recipe));
  }
  return language_subject(recipe, words.value_or(published_vocabulary(recipe.data)));
}

std::optional<std::int64_t> stored_vocabulary(const std::filesystem::path& run) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(run / "vocabulary.txt", ignored)) return std::nullopt;
  std::ifstream file(run / "vocabulary.txt");
  if (!file) return std::nullopt;
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

}  // namespace bitcycle::cli
