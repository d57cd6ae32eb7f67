#include "config/recipe_check.h"

#include "bitcycle/base/nearest.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/config/make_policy.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/progressive_policy.h"
#include "bitcycle/config/range_plans.h"
#include "bitcycle/config/scheme_traits.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/data/part.h"
#include "bitcycle/data/text/corpus.h"
#include "bitcycle/network/language_model_kind.h"

#include "config/fields.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Runs what another area would throw Error(usage) from, and reports that at a place of the recipe.
template <class Call>
auto at_place(const toml::source_region& where, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    throw recipe_error(where, error.what(), error.hint());
  }
}

void check_length(const Recipe& recipe, const Places& places) {
  if (recipe.steps > 0 && recipe.epochs > 0) {
    throw recipe_error(places.of({"epochs"}), "expected one of steps and epochs, found both",
                       "Leave one of them out.");
  }
  if (recipe.steps == 0 && recipe.epochs == 0) {
    throw recipe_error(places.of({"steps", "epochs"}), "expected steps or epochs, found neither",
                       "Say how long the run is, for instance epochs = 3.");
  }
}

void check_device(const Recipe& recipe, const Places& places) {
  std::string_view device = recipe.device;
  if (device == "cpu" || device == "cuda") return;
  const bool numbered = device.starts_with("cuda:") && device.size() > 5;
  const std::string_view digits = numbered ? device.substr(5) : "x";
  if (digits.size() <= 3 && digits.find_first_not_of("0123456789") == digits.npos) return;
  throw recipe_error(
      places.of({"device"}),
      fmt::format("device: expected \"cpu\", \"cuda\" or \"cuda:N\", found \"{}\"", device));
}

void check_kernels(const PrecisionRecipe& precision, const Places& places) {
  const SchemeName scheme = precision.scheme;
  if (precision.backend != Backend::integer || scheme == SchemeName::automatic) return;
  if (has_kernels(scheme)) return;
  throw recipe_error(
      places.of({"precision.scheme", "precision.backend"}),
      fmt::format(
          "precision.backend \"integer\" expects a scheme with integer kernels, found \"{}\"",
          name(scheme)),
      "Leave precision.scheme out, or choose backend = \"simulate\" or \"auto\".");
}

// Computing what was not chosen is there to be compared with the released code; no kernel does it.
void check_form(const PrecisionRecipe& precision, const Places& places) {
  if (precision.backend != Backend::integer || !precision.dynamic) return;
  if (precision.dynamic->form == DynamicRecipe::Form::chosen) return;
  throw recipe_error(
      places.of({"precision.dynamic.form", "precision.backend"}),
      "precision.dynamic.form: expected \"chosen\" with precision.backend \"integer\", found "
      "\"all_candidates\", which is simulated",
      "Leave form out, or choose backend = \"simulate\".");
}

std::string_view why_pictures(SchemeName scheme) {
  return scheme == SchemeName::dorefa ? "It clips what layers read to 0..1, as behind a ReLU."
                                      : "It quantizes batch norm.";
}

void check_scheme_model(const Recipe& recipe, const Places& places) {
  const SchemeName scheme = recipe.precision.scheme;
  if (traits_of(scheme).models == SchemeTraits::Models::any) return;
  if (task_of(recipe.model.name) == TaskKind::image_classification) return;
  throw recipe_error(
      places.of({"precision.scheme", "model.name"}),
      fmt::format("precision.scheme \"{}\" is defined for networks for pictures: expected one in "
                  "model.name, found {}",
                  name(scheme), recipe.model.name),
      fmt::format("{} Choose scheme = \"sbm\", or another model.", why_pictures(scheme)));
}

void check_scheme_optimizer(const Recipe& recipe, const Places& places) {
  const SchemeName scheme = recipe.precision.scheme;
  if (traits_of(scheme).optimizers == SchemeTraits::Optimizers::any) return;
  if (recipe.optimizer.name == OptimizerRecipe::Name::sgd) return;
  throw recipe_error(
      places.of({"precision.scheme", "optimizer.name"}),
      fmt::format("precision.scheme \"{}\" quantizes the arithmetic of SGD: expected "
                  "optimizer.name \"sgd\", found \"{}\"",
                  name(scheme),
                  words(recipe.optimizer.name)[static_cast<std::size_t>(recipe.optimizer.name)]),
      "Choose name = \"sgd\", or scheme = \"wageubn-lite\", which leaves the optimizer alone.");
}

// The integer scheme's passes run on the CPU, whoever forms its sums.
void check_scheme(const Recipe& recipe, const Places& places) {
  check_kernels(recipe.precision, places);
  check_scheme_model(recipe, places);
  check_scheme_optimizer(recipe, places);
  check_form(recipe.precision, places);
  if (!has_kernels(recipe.precision.scheme) || recipe.device == "cpu") return;
  throw recipe_error(
      places.of({"precision.scheme", "device"}),
      fmt::format("precision.scheme \"integer\" expects device \"cpu\", found \"{}\"",
                  recipe.device),
      "Choose scheme = \"sbm\", or device = \"cpu\".");
}

void check_dataset(const Recipe& recipe, const Places& places) {
  const std::string& dataset = recipe.data.dataset;
  const std::vector<std::string> fitting = datasets_of(task_of(recipe.model.name));
  if (std::ranges::find(fitting, dataset) != fitting.end()) return;
  std::vector<std::string> names = dataset_names();
  names.insert(names.end(), corpus_names().begin(), corpus_names().end());
  if (std::ranges::find(names, dataset) != names.end()) {
    throw recipe_error(
        places.of({"data.dataset", "model.name"}),
        fmt::format("data.dataset: expected one for {}, found \"{}\", which holds {}",
                    recipe.model.name, dataset, is_corpus(dataset) ? "text" : "pictures"),
        fmt::format("It is trained on one of: {}.", fmt::join(fitting, ", ")));
  }
  throw recipe_error(places.of({"data.dataset"}),
                     fmt::format("there is no dataset \"{}\"", dataset), suggest(dataset, names));
}

// Of a text of one's own both are cut off the end. (Those of pictures follow each other.)
void check_fractions(const DataRecipe& data, const Places& places) {
  if (data.dataset != "text" || data.validation + data.test < 1) return;
  throw recipe_error(
      places.of({"data.validation", "data.test"}),
      fmt::format("data.validation and data.test: expected fractions below 1 together, found {:g} "
                  "and {:g}",
                  data.validation, data.test),
      "Something must be left to train on: take for instance 0.05 each.");
}

void check_part(const Recipe& recipe, const Places& places) {
  try {
    parse_part(recipe.data.part);
  } catch (const Error& error) {
    throw recipe_error(places.of({"data.part"}), std::string("data.part: ") + error.what(),
                       error.hint());
  }
}

// How many words there are is known once the text is read; until then cut-offs may be anything.
std::vector<LayerInfo> checked_language_layers(const Recipe& recipe, const Places& places) {
  constexpr std::int64_t kManyWords = std::int64_t{1} << 24;
  if (language_model_kind(recipe.model.name) == LanguageModelKind::lstm &&
      recipe.data.context > 0) {
    throw recipe_error(places.of({"data.context"}),
                       "data.context applies to transformer_lm: an LSTM carries its state along");
  }
  const auto whole = [](double x) { return x == std::floor(x); };
  if (!std::ranges::all_of(recipe.model.cutoffs, whole)) {
    throw recipe_error(places.of({"model.cutoffs"}),
                       "model.cutoffs: expected whole numbers, found one that is not");
  }
  if (recipe.data.context >= window_of(recipe)) {
    throw recipe_error(
        places.of({"data.context", "data.window"}),
        fmt::format("data.context: expected less than the window of {} tokens, found {}",
                    window_of(recipe), recipe.data.context));
  }
  return at_place(places.of({"model.name"}), [&] { return language_layers(recipe, kManyWords); });
}

std::vector<LayerInfo> checked_layers(const Recipe& recipe, const Places& places) {
  if (task_of(recipe.model.name) == TaskKind::language_model) {
    return checked_language_layers(recipe, places);
  }
  return at_place(places.of({"model.name"}), [&] { return layers_of(picture_network(recipe)); });
}

void check_learning_rate(const LearningRateRecipe& rate, const Places& places) {
  if (!std::ranges::is_sorted(rate.at, std::less_equal())) {
    throw recipe_error(places.of({"lr_schedule.at"}),
                       "lr_schedule.at: expected fractions that rise, found some that do not");
  }
  if (!rate.rates.empty() && rate.rates.size() != rate.at.size()) {
    throw recipe_error(places.of({"lr_schedule.rates"}),
                       fmt::format("lr_schedule.rates: expected a rate for each of the {} drops of "
                                   "lr_schedule.at, found {}",
                                   rate.at.size(), rate.rates.size()));
  }
  if (rate.name != LearningRateRecipe::Name::plateau || rate.factor <= 1) return;
  throw recipe_error(
      places.of({"lr_schedule.factor"}),
      fmt::format("lr_schedule.factor: expected at most 1 with \"plateau\", found {:g}",
                  rate.factor),
      "It is what the rate is multiplied by when the loss does not fall, for instance 0.25.");
}

// The number of times that the schedules advance; epochs of unknown length count as very long.
Step schedule_length(const Recipe& recipe) {
  constexpr Step kLong = Step{1} << 40;
  if (recipe.precision.per == PrecisionRecipe::Per::step) {
    return recipe.steps > 0 ? recipe.steps : kLong;
  }
  return recipe.epochs > 0 ? static_cast<Step>(std::ceil(recipe.epochs)) : kLong;
}

void check_override(const LayerOverride& entry, const std::string& key,
                    const std::vector<LayerInfo>& layers, const Places& places) {
  if (entry.layers.empty()) {
    throw recipe_error(places.of({key + ".layers", key}),
                       key + ": expected layers, a pattern of layer names, found none",
                       "Add for instance layers = \"conv1\".");
  }
  if (!entry.full_precision && !entry.forward && !entry.weight && !entry.activation &&
      !entry.backward) {
    throw recipe_error(places.of({key}), key + ": expected bits or full_precision, found neither",
                       "Add for instance full_precision = true, or forward = 8.");
  }
  const auto fits = [&](const LayerInfo& layer) { return matches(layer, entry.layers); };
  if (std::ranges::any_of(layers, fits)) return;
  throw recipe_error(places.of({key + ".layers"}),
                     fmt::format("{}: no layer fits \"{}\"", key, entry.layers),
                     fmt::format("Layer names look like \"{}\"; `bitcycle cost MODEL --per-layer` "
                                 "lists them.",
                                 layers[layers.size() / 2].name));
}

// Of precision.progressive, precision.dynamic or precision.range_test.
void check_stages(const auto& recipe, const std::string& table, const Places& places) {
  const auto complaint = complaint_of(recipe);
  if (!complaint) return;
  const std::string key = table + "." + complaint->key;
  throw recipe_error(places.of({key, table}), key + ": " + complaint->what, complaint->hint);
}

void check_gated_override(const LayerOverride& entry, const std::string& key,
                          const std::vector<LayerInfo>& layers, const Places& places) {
  const auto own = std::ranges::find_if(layers, [&](const LayerInfo& layer) {
    return is_gates_own(layer) && matches(layer, entry.layers);
  });
  if (own == layers.end()) return;
  throw recipe_error(places.of({key + ".layers"}),
                     fmt::format("{}: \"{}\" fits {}, {}", key, entry.layers, own->name,
                                 own->block >= 0 ? "whose bits a gate chooses"
                                                 : "a layer of a gate, which is in float"),
                     "Name layers outside the blocks, or leave out [precision.dynamic].");
}

// What goes around a block is what is left of one that is skipped.
void check_skipping(const Recipe& recipe, const Places& places) {
  const std::vector<PrecisionOption>& options = recipe.precision.dynamic->options;
  if (std::ranges::none_of(options, &PrecisionOption::skips)) return;
  const Network network = picture_network(recipe);
  const auto bare = std::ranges::find_if(network.blocks, [&](const ResidualBlock& block) {
    return network.nodes[static_cast<std::size_t>(block.last)].residual == kNone;
  });
  if (bare == network.blocks.end()) return;
  throw recipe_error(
      places.of({"precision.dynamic.options", "precision.dynamic"}),
      fmt::format("precision.dynamic.options: expected blocks with a shortcut, as [0, 0] skips "
                  "them, found none around {} of {}",
                  network.nodes[static_cast<std::size_t>(bare->last)].name, network.name),
      "Leave out [0, 0], or choose a ResNet.");
}

void check_gates(const Recipe& recipe, const Places& places) {
  const std::string table = "precision.dynamic";
  if (task_of(recipe.model.name) == TaskKind::language_model) {
    throw recipe_error(
        places.of({table}),
        fmt::format("{}: expected a network for pictures, for whose blocks gates choose, found {}, "
                    "a language model",
                    table, recipe.model.name),
        "Tokens of a sequence depend on each other, so one that skips a block has no cost of its "
        "own. Choose a network for pictures, or stages: [precision.progressive].");
  }
  check_stages(*recipe.precision.dynamic, table, places);
}

// A length in epochs is known with the data; then a notice tells.
void check_first_cycle(const Recipe& recipe, const Places& places) {
  const RangeTestRecipe& test = *recipe.precision.range_test;
  const RangeTestOptions options = range_test_options(test, recipe.steps);
  const Step least = RangeTest::least_steps(options);
  if (recipe.steps == 0 || options.limit >= least) return;
  throw recipe_error(
      places.of({"precision.range_test.cycles", "precision.forward"}),
      fmt::format("precision.range_test: expected a first cycle of at least {} steps, which the "
                  "shortest test takes, found {}: {} steps in {} cycles",
                  least, options.limit, recipe.steps, test.cycles),
      fmt::format("Take a longer run, fewer cycles, or a smaller precision.range_test.block (it is "
                  "{}).",
                  test.block));
}

void check_range_test(const Recipe& recipe, const Places& places) {
  const PrecisionRecipe& precision = recipe.precision;
  if (precision.weight && precision.activation) {
    throw recipe_error(places.of({"precision.forward"}),
                       "precision.forward: \"auto\" finds bits that nothing takes: "
                       "precision.weight and precision.activation are both given",
                       "Leave out one of them, or precision.forward.");
  }
  check_stages(*precision.range_test, "precision.range_test", places);
  check_first_cycle(recipe, places);
}

void check_precision(const Recipe& recipe, const std::vector<LayerInfo>& layers,
                     const Places& places) {
  const PrecisionRecipe& precision = recipe.precision;
  if (is_automatic(precision)) check_range_test(recipe, places);
  if (precision.progressive) check_stages(*precision.progressive, "precision.progressive", places);
  if (precision.dynamic) check_skipping(recipe, places);
  for (const PlacedSchedule& given : places.schedules) {
    at_place(given.where, [&] { return make_schedule(given.spec, schedule_length(recipe)); });
  }
  for (std::size_t i = 0; i < precision.overrides.size(); ++i) {
    const std::string key = fmt::format("precision.override[{}]", i);
    check_override(precision.overrides[i], key, layers, places);
    if (precision.dynamic) check_gated_override(precision.overrides[i], key, layers, places);
  }
}

bool below(const WidthBounds& bounds, int min_bits) {
  return bounds.min != 0 && bounds.min < min_bits;
}

void check_scheme_widths(const Recipe& recipe, const std::vector<LayerInfo>& layers,
                         const Places& places) {
  const SchemeName scheme = recipe.precision.scheme;
  const int least = traits_of(scheme).min_bits;
  if (least <= kMinBits) return;
  const auto policy = make_policy(recipe.precision, layers, {schedule_length(recipe), 1});
  for (const LayerWidths& widths : policy->widths()) {
    if (!below(widths.weight, least) && !below(widths.activation, least) &&
        !below(widths.error, least)) {
      continue;
    }
    throw recipe_error(
        places.of({"precision.forward", "precision.backward", "precision.scheme"}),
        fmt::format("precision.scheme \"{}\" expects at least {} bits, found 1: of its values of 1 "
                    "bit all are 0",
                    name(scheme), least),
        "Raise the lower bound of the schedules, or choose scheme = \"sbm\".");
  }
}

// A gate chooses by what it has learned of the weights around it, and the samples that skip a block
// are missing from its batch norms' statistics.
void check_averaging(const Recipe& recipe, const Places& places) {
  if (!recipe.averaging || !recipe.precision.dynamic) return;
  throw recipe_error(places.of({"averaging"}),
                     "averaging: expected a network without gates, found [precision.dynamic]",
                     "Leave out one of the two.");
}

void check_evaluation(const Recipe& recipe, const Places& places) {
  at_place(places.of({"evaluation.bits"}),
           [&] { return parse_evaluation_bits(recipe.evaluation.bits); });
  if (recipe.evaluation.best_on == EvaluationRecipe::BestOn::validation &&
      !has_validation(recipe.data)) {
    throw recipe_error(places.of({"evaluation.best_on", "data.validation"}),
                       "evaluation.best_on is \"validation\", but data.validation is 0",
                       "Hold out a part of the training set, or choose best_on = \"test\".");
  }
}

}  // namespace

void check_recipe(const Recipe& recipe, const Places& places) {
  check_length(recipe, places);
  check_device(recipe, places);
  check_scheme(recipe, places);
  if (recipe.precision.dynamic) check_gates(recipe, places);
  const std::vector<LayerInfo> layers = checked_layers(recipe, places);
  check_dataset(recipe, places);
  check_fractions(recipe.data, places);
  check_part(recipe, places);
  check_learning_rate(recipe.lr_schedule, places);
  check_precision(recipe, layers, places);
  check_scheme_widths(recipe, layers, places);
  check_averaging(recipe, places);
  check_evaluation(recipe, places);
}

}  // namespace bitcycle
