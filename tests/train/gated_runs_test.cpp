// Runs whose precision gates choose: with one target (DFQ), and with several that follow the loss
// (FracTrain); where it says so also with stages of bits (PFQ).

#include "bitcycle/events/metrics_file.h"
#include "bitcycle/io/checkpoint.h"

#include "train/run_files.h"
#include "train/trainer_testing.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class GatedRunsTest : public TrainerTest {};

enum class Mode { progressive, dynamic, fractrain };
constexpr Mode kModes[] = {Mode::progressive, Mode::dynamic, Mode::fractrain};
constexpr Mode kGatedModes[] = {Mode::dynamic, Mode::fractrain};

// Every stage lasts as short as it can: two periods.
void hurry(IndicatorRecipe& indicator) {
  indicator.epsilon = 100;
  indicator.window = 2;
  indicator.period = 2;
}

void choose(Mode mode, PrecisionRecipe& precision) {
  if (mode == Mode::progressive) {
    ProgressiveRecipe& progressive = precision.progressive.emplace();
    progressive.forward = {3, 8};
    progressive.backward = {6, 8};
    return hurry(progressive);
  }
  DynamicRecipe& dynamic = precision.dynamic.emplace();
  dynamic.options = {{0, 0}, {3, 6}, {4, 8}, {6, 12}};
  dynamic.weight = 4;
  dynamic.target = {2.5};
  dynamic.beta = 0.02;
  if (mode == Mode::dynamic) return;
  dynamic.target = {1.5, 2.5};
  hurry(dynamic);
}

// An epoch of eight steps; a log line every three, so that a part of one is carried over a stop.
Recipe recipe_of(Mode mode) {
  Recipe recipe = small_recipe();
  recipe.epochs = 0;
  recipe.steps = 8;
  recipe.threads = 1;
  recipe.data.batch_size = 8;
  recipe.data.limit = 64;
  choose(mode, recipe.precision);
  recipe.evaluation.bits = "current";
  return recipe;
}

Recipe executed(Recipe recipe) {
  recipe.precision.backend = PrecisionRecipe::Backend::integer;
  return recipe;
}

// What LibTorch computes of the same codes.
Recipe simulated_in_integers(Recipe recipe) {
  recipe.precision.backend = PrecisionRecipe::Backend::simulate;
  recipe.precision.scheme = SchemeName::integer;
  return recipe;
}

std::string name(Mode mode) {
  return std::array{"progressive", "dynamic", "fractrain"}[static_cast<std::size_t>(mode)];
}

std::ptrdiff_t validations(const fs::path& run) {
  return std::ranges::count_if(lines_of(run, "evaluation"),
                               [](const json& line) { return line["split"] == "validation"; });
}

// The last model and optimizer of a run, and what it logged of steps and stages: all that training
// makes.
void expect_same_training(const fs::path& a, const fs::path& b) {
  const CheckpointFiles left = CheckpointStore(a).load(CheckpointStore(a).latest().value());
  const CheckpointFiles right = CheckpointStore(b).load(CheckpointStore(b).latest().value());
  for (const char* file : {"model.safetensors", "optimizer.safetensors"}) {
    EXPECT_TRUE(left.at(file) == right.at(file)) << file << " differs";
  }
  for (const char* type : {"step", "stage"}) {
    EXPECT_EQ(lines_of(a, type), lines_of(b, type)) << type;
  }
}

// Tests of equal bytes mean little where all samples have the same, or no stage is passed.
TEST_F(GatedRunsTest, TheRunsOfTheseTestsMixOptionsAndPassStages) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const fs::path run = train(name(mode), executed(recipe_of(mode)));
    EXPECT_EQ(lines_of(run, "stage").size(), mode == Mode::dynamic ? 0U : 1U);
    if (mode == Mode::progressive) continue;
    bool mixed = false;
    for (const LoggedStep& step : logged_steps(run)) {
      for (const auto& block : step.choices) mixed |= std::ranges::count(block, 0.0) <= 2;
    }
    EXPECT_TRUE(mixed);
  }
}

TEST_F(GatedRunsTest, ARunStoppedAfterAnyStepEndsInTheSameBytesOnceResumed) {
  for (const Mode mode : kGatedModes) {
    SCOPED_TRACE(name(mode));
    const Recipe recipe = executed(recipe_of(mode));
    const fs::path run = train_with_stops(name(mode) + "-stopped", recipe, every_step_to(7));
    expect_same_bytes(train(name(mode), recipe), run);
  }
}

TEST_F(GatedRunsTest, SoDoesOneThatIsSimulated) {
  for (const Mode mode : kGatedModes) {
    SCOPED_TRACE(name(mode));
    const fs::path run = train_with_stops(name(mode) + "-stopped", recipe_of(mode), {2, 5});
    expect_same_bytes(train(name(mode), recipe_of(mode)), run);
  }
}

// Long enough for a target to change.
TEST_F(GatedRunsTest, NeitherThreadsNorWorkersChangeAByte) {
  for (const Mode mode : kGatedModes) {
    for (Recipe recipe : {recipe_of(mode), executed(recipe_of(mode))}) {
      recipe.steps = 5;
      recipe.threads = 1;
      recipe.data.workers = 0;
      const fs::path one = train("one", recipe);
      for (const int threads : {2, 3}) {
        SCOPED_TRACE(name(mode) + " " + std::to_string(threads));
        recipe.threads = recipe.data.workers = threads;
        const fs::path run = train("several", recipe);
        write_file(run / "recipe.toml", text(one / "recipe.toml"));  // it names both
        expect_same_bytes(one, run);
        fs::remove_all(run);
      }
      fs::remove_all(one);
    }
  }
}

TEST_F(GatedRunsTest, ExecutedAndSimulatedInIntegersAreTheSameTraining) {
  for (const Mode mode : kModes) {
    SCOPED_TRACE(name(mode));
    const fs::path by_kernels = train(name(mode) + "_executed", executed(recipe_of(mode)));
    const fs::path by_libtorch =
        train(name(mode) + "_simulated", simulated_in_integers(recipe_of(mode)));
    EXPECT_THAT(text(by_kernels / "summary.json"), HasSubstr(R"("backend": "integer")"));
    EXPECT_THAT(text(by_libtorch / "summary.json"), HasSubstr(R"("backend": "simulate")"));
    expect_same_training(by_kernels, by_libtorch);
  }
}

TEST_F(GatedRunsTest, EvaluatingChangesNoByteOfTraining) {
  for (const Mode mode : kGatedModes) {
    for (Recipe recipe : {recipe_of(mode), executed(recipe_of(mode))}) {
      SCOPED_TRACE(name(mode));
      recipe.evaluation.every_epochs = 0;
      const fs::path once = train("once", recipe);
      EXPECT_EQ(validations(once), 1);
      recipe.evaluation.every_epochs = 0.125;  // after every step
      for (const std::string bits : {"current", "8", "fp"}) {
        SCOPED_TRACE(bits);
        recipe.evaluation.bits = bits;
        const fs::path often = train("often", recipe);
        EXPECT_EQ(validations(often), 8);
        expect_same_training(once, often);
        fs::remove_all(often);
      }
      fs::remove_all(once);
    }
  }
}

// As a network that has learned, at every precision that can be asked for.
TEST_F(GatedRunsTest, GatesChooseInEvaluationUnlessBitsAreGiven) {
  Recipe recipe = executed(recipe_of(Mode::dynamic));
  std::map<std::string, double> loss;
  for (const std::string bits : {"current", "max", "8", "4", "fp"}) {
    recipe.evaluation.bits = bits;
    loss[bits] = lines_of(train(bits, recipe), "evaluation").back()["loss"];
  }
  EXPECT_EQ(loss["current"], loss["max"]);
  for (const char* bits : {"8", "4", "fp"}) EXPECT_NE(loss["current"], loss[bits]) << bits;
  EXPECT_NE(loss["8"], loss["4"]);
  EXPECT_NE(loss["8"], loss["fp"]);
  EXPECT_NEAR(loss["8"], loss["fp"], 0.1 * loss["fp"]);
}

TEST_F(GatedRunsTest, ChoicesAreSharesOfTheSamplesOfABlock) {
  const auto steps = logged_steps(train("run", executed(recipe_of(Mode::dynamic))));
  ASSERT_EQ(steps.size(), 3U);
  for (const LoggedStep& step : steps) {
    ASSERT_EQ(step.choices.size(), 3U);  // blocks of ResNet-8
    for (const auto& block : step.choices) {
      ASSERT_EQ(block.size(), 4U);
      EXPECT_NEAR(std::accumulate(block.begin(), block.end(), 0.0), 1, 1e-12);
      EXPECT_GE(*std::ranges::min_element(block), 0);
    }
  }
}

// Some hundred steps on data that are easy to learn, with a cost that counts.
Recipe steered_recipe(double target) {
  Recipe recipe = executed(recipe_of(Mode::dynamic));
  recipe.steps = 300;
  recipe.log_every = 50;
  recipe.data.batch_size = 16;
  recipe.data.limit = 256;
  recipe.evaluation.every_epochs = recipe.checkpoint.every_epochs = 0;
  recipe.precision.dynamic->options = {{3, 6}, {4, 6}, {4, 8}, {6, 8}, {6, 12}};
  recipe.precision.dynamic->target = {target};
  return recipe;
}

TEST_F(GatedRunsTest, CostIsSteeredToATargetThatCanBeReached) {
  for (const double target : {2.25, 3.5}) {
    const json last =
        lines_of(train(std::to_string(target), steered_recipe(target)), "step").back();
    EXPECT_NEAR(last["cp"].get<double>(), target, 0.25) << last;
  }
}

// The two cheapest options differ little in cost: with a beta of 0.02 the last samples come over
// after some 500 steps.
TEST_F(GatedRunsTest, BelowWhatCanBeReachedTheCheapestOptionIsLeftAlone) {
  Recipe recipe = steered_recipe(1);
  recipe.precision.dynamic->beta = 0.2;
  const json last = lines_of(train("run", recipe), "step").back();
  EXPECT_NEAR(last["cp"].get<double>(), 100 * (3 * 4 + 6 * 4 + 3 * 6) / 3072.0, 1e-9) << last;
  for (const json& block : last["choices"]) EXPECT_EQ(block, json({1, 0, 0, 0, 0}));
}

// Multiply-accumulates of a convolution on an image of that side, with two operations of its batch
// norm for each output.
double convolution(double in, double out, double kernel, double side) {
  return (kernel * kernel * in + 2) * out * side * side;
}

// ResNet-8, block by block; the last two have a projection.
struct BlockOps {
  double convolutions, projection;
};
const std::vector<BlockOps> kBlocks = {
    {2 * convolution(16, 16, 3, 32), 0},
    {convolution(16, 32, 3, 16) + convolution(32, 32, 3, 16), convolution(16, 32, 1, 16)},
    {convolution(32, 64, 3, 8) + convolution(64, 64, 3, 8), convolution(32, 64, 1, 8)}};
constexpr double kClassifier = 64 * 10;
double stem() {
  return convolution(3, 16, 3, 32);
}
// An embedding of 16 behind 32 hidden features, a cell of 16 and a head of four options.
constexpr double kGates = (16 + 16 + 32) * 32 + 3 * 32 * 16 + 3 * (2 * 16 * 64 + 16 * 4);

double products(double weight, double activation, double error) {
  return weight * activation + weight * error + activation * error;
}

double sample_bitops(const json& choices, const std::vector<PrecisionOption>& options) {
  double sum = (stem() + kGates) * products(32, 32, 32) + kClassifier * products(8, 8, 8);
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    for (std::size_t k = 0; k < options.size(); ++k) {
      const double share = choices.at(block).at(k);
      const double product = products(4, options[k].activation, options[k].error);
      // Past a block that is skipped the projection is at the dearest option.
      sum += options[k].skips()
                 ? share * kBlocks[block].projection * products(4, 6, 12)
                 : share * (kBlocks[block].convolutions + kBlocks[block].projection) * product;
    }
  }
  return sum;
}

TEST_F(GatedRunsTest, ARunCostsWhatItsLogSaysThatGatesChose) {
  for (const Mode mode : kGatedModes) {
    Recipe recipe = executed(recipe_of(mode));
    recipe.log_every = 1;
    const double samples = recipe.data.batch_size;
    const fs::path run = train(name(mode), recipe);
    double all_ops = stem() + kClassifier, spent = 0;
    for (const BlockOps& block : kBlocks) all_ops += block.convolutions + block.projection;
    for (const json& step : lines_of(run, "step")) {
      const double steps = step["step"];
      spent += samples * sample_bitops(step["choices"], recipe.precision.dynamic->options) / 1e9;
      EXPECT_NEAR(step["gbitops"].get<double>(), spent, 1e-9 * spent) << step;
      const double expected = samples * steps * all_ops * products(8, 8, 8) / 1e9;
      EXPECT_NEAR(step["gbitops_static"].get<double>(), expected, 1e-9 * expected);
    }
    const json summary = json::parse(text(run / "summary.json"));
    EXPECT_NEAR(summary["gbitops"].get<double>(), spent, 1e-9 * spent);
  }
}

// cp, by the paper's formula, of the choices beside it.
TEST_F(GatedRunsTest, TheLoggedCpIsThatOfTheLoggedChoices) {
  Recipe recipe = executed(recipe_of(Mode::dynamic));
  for (const json& step : lines_of(train("run", recipe), "step")) {
    double sum = 0;
    for (const json& block : step["choices"]) {
      for (std::size_t k = 0; k < block.size(); ++k) {
        const PrecisionOption option = recipe.precision.dynamic->options[k];
        sum += block[k].get<double>() * products(4, option.activation, option.error) *
               (option.skips() ? 0 : 1);
      }
    }
    EXPECT_NEAR(step["cp"].get<double>(), 100 * sum / 3 / 3072, 1e-9) << step;
  }
}

TEST_F(GatedRunsTest, AllCandidatesTrainInSimulation) {
  Recipe recipe = recipe_of(Mode::fractrain);
  recipe.precision.dynamic->form = DynamicRecipe::Form::all_candidates;
  const fs::path whole = train("whole", recipe);
  EXPECT_EQ(lines_of(whole, "stage").size(), 1U);
  const fs::path run = train_and_stop("run", recipe, 5);
  resume(run, recipe);
  expect_same_bytes(whole, run);
  EXPECT_NE(text(whole / "metrics.jsonl"),
            text(train("chosen", recipe_of(Mode::fractrain)) / "metrics.jsonl"));
}

TEST_F(GatedRunsTest, LeftToUsAllCandidatesAreSimulatedAndItIsSaidWhy) {
  Recipe recipe = recipe_of(Mode::dynamic);
  recipe.precision.backend = PrecisionRecipe::Backend::automatic;
  EXPECT_THAT(Trainer(recipe, root_).notices(), testing::IsEmpty());
  recipe.precision.dynamic->form = DynamicRecipe::Form::all_candidates;
  EXPECT_THAT(
      Trainer(recipe, root_).notices(),
      testing::ElementsAre(HasSubstr("the form \"all_candidates\" has no integer kernels")));
}

}  // namespace
}  // namespace bitcycle
