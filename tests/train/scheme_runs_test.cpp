// Whole runs in the papers' schemes: they learn, resume to the byte, and do not depend on threads.

#include "bitcycle/config/backend.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/train/session.h"

#include "train/trainer_testing.h"

#include <cmath>
#include <cstring>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using testing::ElementsAre;

constexpr SchemeName kSchemes[] = {SchemeName::dorefa, SchemeName::sbm_banner,
                                   SchemeName::wageubn_lite, SchemeName::wageubn_full};

// WAGEUBN's weight gradients have lost their magnitude, so that a rate means something else.
Recipe in_scheme(Recipe recipe, SchemeName scheme) {
  recipe.precision.scheme = scheme;
  if (scheme == SchemeName::wageubn_lite) recipe.optimizer.lr = 0.005;
  if (scheme == SchemeName::wageubn_full) {
    recipe.optimizer.momentum = 0.25;
    recipe.optimizer.decay = OptimizerRecipe::Decay::weights;
  }
  return recipe;
}

class SchemeRunsTest : public TrainerTest, public testing::WithParamInterface<SchemeName> {};

TEST_P(SchemeRunsTest, IsResumedToTheByte) {
  Recipe recipe = in_scheme(small_recipe(), GetParam());
  recipe.data.limit = 128;
  const fs::path whole = train("whole", recipe);
  const fs::path run = train_and_stop("stopped", recipe, 5);
  resume(run, recipe);
  expect_same_bytes(whole, run);
}

TEST_P(SchemeRunsTest, DoesNotDependOnThreads) {
  Recipe recipe = in_scheme(short_recipe(), GetParam());
  recipe.threads = 1;
  const fs::path one = train("one", recipe);
  recipe.threads = 3;
  const fs::path three = train("three", recipe);
  write_file(three / "recipe.toml", text(one / "recipe.toml"));  // it names the threads
  expect_same_bytes(one, three);
}

TEST_P(SchemeRunsTest, IsSimulatedUnderAutoAndSaysWhy) {
  Recipe recipe = in_scheme(short_recipe(), GetParam());
  recipe.precision.backend = Backend::automatic;
  EXPECT_THAT(
      Trainer(recipe, root_ / "run").notices(),
      ElementsAre("simulating: the scheme \"" + name(GetParam()) + "\" has no integer kernels"));
}

TEST_P(SchemeRunsTest, FollowsStagesGatesAndCyclesOfErrors) {
  Recipe recipe = in_scheme(short_recipe(), GetParam());
  recipe.data.limit = 64;
  recipe.precision.backward = {.name = "CR", .min = 6, .max = 12, .cycles = 2};
  train("errors", recipe);
  recipe.precision.backward = {};
  recipe.precision.progressive = ProgressiveRecipe{{}, {3, 0}, {6, 0}, {}};
  recipe.precision.progressive->deadlines = {0.5};
  train("stages", recipe);
  recipe.precision.progressive.reset();
  recipe.precision.dynamic = DynamicRecipe{};
  recipe.precision.dynamic->options = {{3, 6}, {4, 8}, {0, 0}};
  recipe.precision.dynamic->weight = 4;
  recipe.precision.dynamic->target = {3.0};
  train("gates", recipe);
}

// Of the last logged step.
double last_loss(const fs::path& run) {
  std::istringstream log(text(run / "metrics.jsonl"));
  double loss = 0;
  for (std::string line; std::getline(log, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.at("type") == "step") loss = entry.at("loss");
  }
  return loss;
}

TEST_P(SchemeRunsTest, Learns) {
  Recipe recipe = in_scheme(small_recipe(), GetParam());
  recipe.epochs = 12;
  recipe.evaluation.every_epochs = 12;
  recipe.checkpoint.every_epochs = 12;
  EXPECT_LT(last_loss(train("run", recipe)), 0.75 * std::log(10.0));
}

std::string test_name(const testing::TestParamInfo<SchemeName>& info) {
  std::string text = name(info.param);
  std::erase(text, '-');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Every, SchemeRunsTest, testing::ValuesIn(kSchemes), test_name);

std::vector<float> tensor(const fs::path& run, const std::string& file, const std::string& name) {
  const CheckpointStore store(run);
  const auto bytes = store.load(store.latest().value()).at(file);
  const auto stored = decode_safetensors(bytes, file).tensors.at(name).bytes;
  std::vector<float> values(stored.size() / sizeof(float));
  std::memcpy(values.data(), stored.data(), stored.size());
  return values;
}

bool on_grid(const std::vector<float>& values, double steps_of_one) {
  for (const float value : values) {
    if (value * steps_of_one != std::nearbyint(value * steps_of_one)) return false;
  }
  return true;
}

TEST_F(TrainerTest, WageubnFullKeepsWeightsAndMomentumOnTheirGrids) {
  const fs::path run = train("run", in_scheme(short_recipe(), SchemeName::wageubn_full));
  const std::string state = "optimizer.safetensors", model = "model.safetensors";
  EXPECT_TRUE(on_grid(tensor(run, model, "layer1.0.conv1.weight"), 0x1p23));
  EXPECT_TRUE(on_grid(tensor(run, model, "layer1.0.bn1.weight"), 0x1p23));
  EXPECT_TRUE(on_grid(tensor(run, state, "layer1.0.conv1.weight.momentum"), 0x1p12));
  EXPECT_TRUE(on_grid(tensor(run, state, "layer1.0.bn1.bias.momentum"), 0x1p12));
  EXPECT_FALSE(on_grid(tensor(run, state, "conv1.weight.momentum"), 0x1p12));  // in float
  EXPECT_FALSE(on_grid(tensor(run, state, "fc.weight.momentum"), 0x1p12));
}

TEST_F(TrainerTest, RangeNormsHaveTheRangesOfTheirInputsInTheCheckpoint) {
  const fs::path run = train("run", in_scheme(short_recipe(), SchemeName::sbm_banner));
  EXPECT_GT(tensor(run, "model.safetensors", "layer1.0.bn1.running_range").at(0), 0);
  EXPECT_GT(tensor(run, "model.safetensors", "fc.running_range").at(0), 0);  // quantized too
}

TEST_F(TrainerTest, DorefaLeavesTheFirstAndTheLastLayerInFloat) {
  const Recipe recipe = in_scheme(short_recipe(), SchemeName::dorefa);
  const Session session(recipe);
  const StepBits bits = session.policy().decide(0);
  EXPECT_EQ(bits.layers.front(), LayerBits{});
  EXPECT_EQ(bits.layers.back(), LayerBits{});
  EXPECT_EQ(bits.layers[1], (LayerBits{3, 3, 8}));
  EXPECT_EQ(bits.counted.front(), (LayerBits{3, 3, 8}));
}

}  // namespace
}  // namespace bitcycle
