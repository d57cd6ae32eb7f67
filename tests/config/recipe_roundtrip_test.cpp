// Whatever recipe can be read, to_toml writes text that reads back to the same recipe.

#include "bitcycle/base/random.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/config/scheme_traits.h"

#include "config/fields.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::IsEmpty;

// Gives fields random values from their ranges. Names that must exist are left alone.
class Scrambler {
 public:
  explicit Scrambler(RandomKey key) : key_(key) {}

  void operator()(const Field&, Section auto& section) { describe(*this, section); }
  void operator()(const Field&, bool& value) { value = draw(2) == 1; }
  void operator()(const Field& field, double& value) {
    value = field.low + key_.uniform(index_++) * (std::min(field.high, 1e6) - field.low);
  }
  void operator()(const Field& field, std::integral auto& value) {
    const double high = std::min(field.high, 1e6);
    value = static_cast<std::remove_reference_t<decltype(value)>>(
        field.low + std::floor(key_.uniform(index_++) * (high - field.low + 1)));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const Field&, Enum& value) {
    value = static_cast<Enum>(draw(words(value).size()));
  }
  void operator()(const Field& field, std::string& value) {
    if (field.key == "root") value = "C:\\data \"quoted\"\tand\nlines ä";
  }
  void operator()(const Field&, std::vector<double>& value) { value = {0.125, 1.0 / 3, 0.9}; }
  void operator()(const Field&, ScheduleSpec& value) {
    const std::vector<std::string> names = schedule_names();
    value = {.name = names[draw(names.size())], .min = 3, .max = 7, .cycles = 4};
    if (value.name == "static") value.min = value.max = 4 * static_cast<int>(draw(3));
    value.start = 0.1;
  }
  void operator()(const Field&, std::vector<int>& value) { value = {3, 4, 8, 0}; }
  void operator()(const Field&, ProgressiveRecipe& value) {
    describe(*this, value);
    value.turning_points = 3;
    if (value.loss == IndicatorRecipe::Loss::total) value.loss = IndicatorRecipe::Loss::perplexity;
  }
  void operator()(const Field&, std::vector<PrecisionOption>& value) {
    value = {{3, 6}, {0, 0}, {4 + static_cast<int>(draw(9)), 16}};
  }
  void operator()(const Field&, DynamicRecipe& value) {
    describe(*this, value);
    value.weight = 4;
    if (draw(2) == 1) value.target = {2.5};
    value.deadlines.resize(value.target.size() - 1);
  }
  void operator()(const Field&, RangeTestRecipe& value) { value.threshold = 0.7; }
  void operator()(const Field&, AveragingRecipe& value) { describe(*this, value); }
  void operator()(const Field&, std::vector<LayerOverride>& value) {
    for (std::uint64_t i = draw(3); i > 0; --i) {
      LayerOverride& entry = value.emplace_back();
      entry.layers = "layer" + std::to_string(i) + ".*";
      describe(*this, entry);
      entry.full_precision =
          !entry.forward && !entry.weight && !entry.activation && !entry.backward;
    }
  }
  template <class T>
  void operator()(const Field& field, std::optional<T>& value) {
    if (draw(2) == 1) (*this)(field, value.emplace());
  }

 private:
  std::uint64_t draw(std::uint64_t n) { return key_.below(index_++, n); }

  RandomKey key_;
  std::uint64_t index_ = 0;
};

Recipe random_recipe(std::uint64_t seed) {
  Recipe recipe;
  Scrambler scrambler(RandomKey(seed).derive("recipe"));
  describe(scrambler, recipe);
  recipe.epochs = 0;
  recipe.steps = 10'000'000;
  recipe.data.validation = 0.125;
  recipe.lr_schedule.factor = std::min(recipe.lr_schedule.factor, 1.0);  // a plateau's
  if (recipe.precision.backend == PrecisionRecipe::Backend::integer) {
    recipe.precision.scheme = SchemeName::integer;  // the others have no kernels
  }
  if (traits_of(recipe.precision.scheme).optimizers == SchemeTraits::Optimizers::sgd) {
    recipe.optimizer.name = OptimizerRecipe::Name::sgd;
  }
  if (recipe.precision.range_test && !recipe.precision.activation) {
    recipe.precision.forward = {.name = "auto"};
  }
  if (recipe.precision.progressive) recipe.precision.dynamic.reset();
  if (recipe.precision.dynamic) {
    recipe.averaging.reset();
    recipe.precision.overrides.clear();  // they fit gated layers
    if (recipe.precision.dynamic->form == DynamicRecipe::Form::all_candidates) {
      recipe.precision.backend = PrecisionRecipe::Backend::simulate;
    }
  }
  return recipe;
}

TEST(RecipeTextTest, RandomRecipesSurviveTheRoundTrip) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Recipe recipe = random_recipe(seed);
    const std::string text = to_toml(recipe);
    SCOPED_TRACE(text);
    const Recipe back = parse_recipe(text, "written.toml");
    ASSERT_EQ(to_toml(back), text);
    ASSERT_THAT(differences(recipe, back), IsEmpty());
  }
}

TEST(RecipeTextTest, TheDefaultsAreSpelledOut) {
  const std::string text = to_toml(parse_recipe("steps = 5", "x"));
  EXPECT_EQ(text.substr(0, text.find("[optimizer]")), R"(version = 2
seed = 1
steps = 5
epochs = 0.0
threads = 0
device = "cpu"
log_every = 50
tensorboard = true

[model]
name = "cifar_resnet20"

[data]
dataset = "fashion_mnist"
root = ""
batch_size = 128
part = "1/1"
validation = 0.1
limit = 0
augment = "standard"
workers = 1

)");
}

}  // namespace
}  // namespace bitcycle
