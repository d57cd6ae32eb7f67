// What runs see of their layers: right by independent sums, the same under every executor, and
// nothing that training notices.

#include "bitcycle/base/error.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/quantizer.h"

#include "events/event_reader.h"
#include "train/run_files.h"
#include "train/trainer_testing.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;

double decibels(const at::Tensor& x, const at::Tensor& quantized) {
  const at::Tensor exact = x.to(at::kDouble), lost = exact - quantized.to(at::kDouble);
  return 10 * std::log10((exact.square().sum() / lost.square().sum()).item<double>());
}

// As docs/numerics.md has the integer scheme: s, z over the range that holds 0, nearest even.
at::Tensor integer_quantized(const at::Tensor& x, Range range, int bits) {
  const double low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
  const double largest = std::exp2(bits) - 1, scale = (high - low) / largest;
  const double zero = std::nearbyint(-low / scale);
  return scale * ((x.to(at::kDouble) / scale + zero).round().clamp(0, largest) - zero);
}

struct Seen {
  LayerStatistics statistics;
  at::Tensor x, weight;
};

// A step of a unit whose tensors are small enough to be looked at whole.
Seen step_of_unit(Executor executor, LayerBits bits) {
  torch::manual_seed(3);
  ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(8, 12, 3).padding(1).bias(false)});
  set_executor(*unit, executor);
  unit->conv->set_precision(bits, RandomKey(5));
  const auto statistics = std::make_shared<LayerStatistics>();
  unit->conv->observe(statistics);
  at::Tensor x = torch::randn({6, 8, 9, 10}).contiguous(at::MemoryFormat::ChannelsLast);
  x.requires_grad_();
  const at::Tensor y = unit->forward(x);
  y.backward(torch::randn(y.sizes()));
  return {*statistics, x.detach(), unit->conv->weight.detach()};
}

TEST(LayerStatisticsTest, OfASimulatedUnitAreThoseOfItsQuantizers) {
  const auto [seen, x, weight] = step_of_unit(Executor::simulate, {4, 3, 8});
  ASSERT_TRUE(seen.weight && seen.activation && seen.error);
  EXPECT_EQ(seen.activation->count, x.numel());
  EXPECT_EQ(seen.activation->bits(), 3);
  EXPECT_EQ(seen.activation->range.low, x.min().item<float>());
  EXPECT_EQ(seen.activation->range.high, x.max().item<float>());
  EXPECT_NEAR(seen.activation->sqnr_db(), decibels(x, quantize_tensor(x, tensor_range(x), 3)),
              1e-6);
  EXPECT_EQ(seen.weight->count, weight.numel());
  EXPECT_NEAR(seen.weight->sqnr_db(), decibels(weight, quantize_weight(weight, 4)), 1e-6);
}

TEST(LayerStatisticsTest, OfAnExecutedUnitAreThoseOfTheIntegerScheme) {
  for (const Executor executor : {Executor::integer, Executor::oracle}) {
    const auto [seen, x, weight] = step_of_unit(executor, {4, 3, 8});
    ASSERT_TRUE(seen.weight && seen.activation && seen.error);
    const Range range{x.min().item<float>(), x.max().item<float>()};
    EXPECT_EQ(seen.activation->count, x.numel());
    EXPECT_NEAR(seen.activation->sqnr_db(), decibels(x, integer_quantized(x, range, 3)), 1e-3);
    EXPECT_EQ(seen.weight->range.high, weight.max().item<float>());
    EXPECT_EQ(seen.weight->count, weight.numel());
    // Another grid than the simulated one, of the same size.
    EXPECT_NEAR(seen.weight->sqnr_db(), decibels(weight, quantize_weight(weight, 4)), 1.5);
  }
}

// Rounding x / s stochastically loses f (1 - f) s^2 of a value on average, f its fraction. Rows of
// the weight are the same, so that one scale is multiplied into the errors.
TEST(LayerStatisticsTest, OfErrorsHaveTheNoiseOfStochasticRounding) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    torch::manual_seed(1);
    QuantLinear linear(torch::nn::LinearOptions(16, 32).bias(false));
    linear->weight.data().copy_(torch::randn({16}).expand({32, 16}));
    set_executor(*linear, executor);
    linear->set_precision({8, 8, 6}, RandomKey(2));
    const auto statistics = std::make_shared<LayerStatistics>();
    linear->observe(statistics);
    const at::Tensor error = torch::randn({100, 32});
    linear->forward(torch::randn({100, 16})).backward(error);
    const double low = error.min().item<double>(), high = error.max().item<double>();
    const double scale = (high - low) / 63;
    const double origin = executor == Executor::simulate ? low : 0;
    const at::Tensor steps = (error.to(at::kDouble) - origin) / scale, f = steps - steps.floor();
    const double expected = scale * scale * (f * (1 - f)).sum().item<double>();
    EXPECT_NEAR(statistics->error->noise / expected, 1, 0.05);
    EXPECT_FLOAT_EQ(statistics->error->range.low, static_cast<float>(low));
    EXPECT_FLOAT_EQ(statistics->error->range.high, static_cast<float>(high));
    EXPECT_EQ(statistics->error->count, 3200);
  }
}

// Errors are quantized with the weight scales multiplied in, and looked at without.
TEST(LayerStatisticsTest, OfErrorsAreInTheSameUnitsUnderEveryExecutor) {
  for (const int bits : {8, 12}) {
    const auto simulated = step_of_unit(Executor::simulate, {8, 8, bits}).statistics.error;
    for (const Executor executor : {Executor::integer, Executor::oracle}) {
      const auto executed = step_of_unit(executor, {8, 8, bits}).statistics.error;
      EXPECT_NEAR(executed->signal / simulated->signal, 1, 0.02);
      EXPECT_NEAR(executed->range.high / simulated->range.high, 1, 0.3);
      EXPECT_NEAR(executed->range.low / simulated->range.low, 1, 0.3);
      EXPECT_NEAR(executed->sqnr_db(), simulated->sqnr_db(), 3);
      EXPECT_EQ(executed->widest, bits);
    }
  }
}

TEST(LayerStatisticsTest, CountEveryCodeOnce) {
  for (const Executor executor : {Executor::simulate, Executor::integer}) {
    const LayerStatistics seen = step_of_unit(executor, {2, 4, 12}).statistics;
    each_role(seen, [&](const std::string& role, const TensorStatistics& tensor) {
      const std::vector<std::int64_t> counts = tensor.code_counts();
      EXPECT_EQ(counts.size(), role == "weight" ? 4U : role == "activation" ? 16U : 32U);
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), tensor.count);
      EXPECT_GT(counts.back(), 0) << role;  // the end of the range has the last code
    });
  }
}

TEST(LayerStatisticsTest, OfALinearLayerAddUpOverItsCalls) {
  for (const Executor executor : {Executor::simulate, Executor::integer, Executor::oracle}) {
    torch::manual_seed(1);
    QuantLinear linear(torch::nn::LinearOptions(10, 4).bias(false));
    set_executor(*linear, executor);
    linear->set_precision({8, 6, 8}, RandomKey(2));
    const auto statistics = std::make_shared<LayerStatistics>();
    linear->observe(statistics);
    const at::Tensor a = torch::rand({5, 10}), b = 3 * torch::rand({7, 10});
    (linear->forward(a).square().sum() + linear->forward(b).square().sum()).backward();
    EXPECT_EQ(statistics->activation->count, 120);
    EXPECT_EQ(statistics->weight->count, 40);
    EXPECT_EQ(statistics->error->count, 48);
    EXPECT_EQ(statistics->activation->range.high, b.max().item<float>());
    const double signal =
        (a.to(at::kDouble).square().sum() + b.to(at::kDouble).square().sum()).item<double>();
    EXPECT_NEAR(statistics->activation->signal, signal, 1e-9 * signal);
    EXPECT_GT(statistics->error->sqnr_db(), 25);
    EXPECT_LT(statistics->error->sqnr_db(), 60);
  }
}

TEST(LayerStatisticsTest, OfFloatRolesAreNone) {
  const LayerStatistics seen = step_of_unit(Executor::simulate, {0, 4, 0}).statistics;
  EXPECT_FALSE(seen.weight);
  EXPECT_TRUE(seen.activation);
  EXPECT_FALSE(seen.error);
}

// Runs.

struct Backends {
  std::string name;
  PrecisionRecipe::Backend backend;
  SchemeName scheme;
};
const std::vector<Backends> kBackends = {
    {"simulate", PrecisionRecipe::Backend::simulate, SchemeName::sbm},
    {"integer", PrecisionRecipe::Backend::integer, SchemeName::automatic},
    {"oracle", PrecisionRecipe::Backend::simulate, SchemeName::integer}};

Recipe looked_at(const Backends& backend, std::int64_t every) {
  Recipe recipe = short_recipe();
  recipe.data.limit = 64;
  recipe.data.batch_size = 16;
  recipe.statistics_every = every;
  recipe.precision.backend = backend.backend;
  recipe.precision.scheme = backend.scheme;
  return recipe;
}

std::vector<json> layer_lines(const fs::path& run) {
  return json_lines(run / "layers.jsonl");
}

fs::path last_checkpoint(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run / "checkpoints")) {
    const fs::path model = entry.path() / "model.safetensors";
    if (fs::exists(model) && entry.path().filename().string().ends_with("4")) return model;
  }
  return {};
}

class StatisticsRunTest : public TrainerTest {};

TEST_F(StatisticsRunTest, ChangeNothingThatIsTrained) {
  for (const Backends& backend : kBackends) {
    const fs::path with = train(backend.name + "-with", looked_at(backend, 1));
    Recipe recipe = looked_at(backend, 0);
    recipe.tensorboard = false;
    const fs::path without = train(backend.name + "-without", recipe);
    ASSERT_FALSE(last_checkpoint(with).empty());
    EXPECT_TRUE(read_file(last_checkpoint(with)) == read_file(last_checkpoint(without)));
    EXPECT_EQ(text(with / "metrics.jsonl"), text(without / "metrics.jsonl"));
    EXPECT_EQ(layer_lines(with).size(), 4U);
    EXPECT_FALSE(fs::exists(without / "layers.jsonl"));
    EXPECT_FALSE(fs::exists(without / "events.out.tfevents.bitcycle"));
  }
}

TEST_F(StatisticsRunTest, AreTheSameWhoeverFormsTheSumsAndWhateverTheThreads) {
  const fs::path integer = train("integer", looked_at(kBackends[1], 2));
  const fs::path oracle = train("oracle", looked_at(kBackends[2], 2));
  EXPECT_EQ(text(integer / "layers.jsonl"), text(oracle / "layers.jsonl"));
  for (const Backends& backend : {kBackends[0], kBackends[1]}) {
    Recipe one = looked_at(backend, 2), three = one;
    one.threads = 1;
    three.threads = 3;
    const fs::path a = train(backend.name + "-one", one), b = train(backend.name + "-three", three);
    EXPECT_EQ(text(a / "layers.jsonl"), text(b / "layers.jsonl"));
    EXPECT_GT(text(a / "layers.jsonl").size(), 100U);
  }
}

// Gates choose bits for each sample; the layers of a language model are called once a time step.
Recipe gated(const Backends& backend, std::int64_t every) {
  Recipe recipe = looked_at(backend, every);
  recipe.precision.dynamic = DynamicRecipe{{}, {{0, 0}, {3, 6}, {4, 8}, {6, 12}}, 4, {2.5}, 0.02};
  recipe.evaluation.bits = "current";
  return recipe;
}

Recipe language(const fs::path& text_file, const Backends& backend, std::int64_t every) {
  Recipe recipe = looked_at(backend, every);
  recipe.model.name = "lstm_lm";
  recipe.model.hidden = 6;
  recipe.data = {.dataset = "text", .root = text_file.string(), .batch_size = 2, .window = 10};
  return recipe;
}

TEST_F(StatisticsRunTest, OfGatedAndLanguageModelsChangeNothingEither) {
  std::string letters;
  for (int i = 0; i < 400; ++i) letters += static_cast<char>('a' + i * i % 7);
  write_file(root_ / "text.txt", letters);
  for (const Backends& backend : kBackends) {
    for (const bool gates : {true, false}) {
      const auto recipe = [&](std::int64_t every) {
        return gates ? gated(backend, every) : language(root_ / "text.txt", backend, every);
      };
      const std::string name = backend.name + (gates ? "-gated" : "-language");
      const fs::path with = train(name + "-with", recipe(1));
      const fs::path without = train(name + "-without", recipe(0));
      ASSERT_FALSE(last_checkpoint(with).empty());
      EXPECT_TRUE(read_file(last_checkpoint(with)) == read_file(last_checkpoint(without))) << name;
      const json layers = layer_lines(with).at(3)["layers"];
      EXPECT_GE(layers.size(), gates ? 8U : 4U) << name;
      for (const auto& [layer, roles] : layers.items()) {
        for (const auto& [role, seen] : roles.items()) {
          EXPECT_LE(seen["low"], seen["high"]) << name << " " << layer << " " << role;
          EXPECT_GT(seen["bits"], 0) << name << " " << layer << " " << role;
        }
      }
    }
  }
}

// At 8 bits two schemes compute nearly the same, gradient scales of half precision and all.
TEST_F(StatisticsRunTest, OfTheFirstStepAgreeBetweenSchemes) {
  Recipe simulated = looked_at(kBackends[0], 1), executed = looked_at(kBackends[1], 1);
  for (Recipe* recipe : {&simulated, &executed}) {
    recipe->precision.forward = {.min = 8, .max = 8};
    recipe->steps = 1;
  }
  const json a = layer_lines(train("a", simulated)).front()["layers"];
  const json b = layer_lines(train("b", executed)).front()["layers"];
  ASSERT_EQ(a.size(), b.size());
  int compared = 0;
  for (const auto& [layer, roles] : a.items()) {
    for (const auto& [role, seen] : roles.items()) {
      const json& other = b.at(layer).at(role);
      const double width = seen["high"].get<double>() - seen["low"].get<double>();
      EXPECT_NEAR(other["low"], seen["low"], 0.35 * width) << layer << " " << role;
      EXPECT_NEAR(other["high"], seen["high"], 0.35 * width) << layer << " " << role;
      EXPECT_EQ(other["bits"], 8);
      // There is no ratio where nothing comes (norms that start at 0 let no error pass at first) or
      // nothing is lost (pixels of 8 bits, whose zero point only one of the schemes rounds).
      if (seen["sqnr_db"].is_null() || other["sqnr_db"].is_null()) continue;
      ++compared;
      EXPECT_NEAR(other["sqnr_db"], seen["sqnr_db"], 6) << layer << " " << role;
    }
  }
  EXPECT_GT(compared, 10);
}

TEST_F(StatisticsRunTest, AreWrittenAtEverySoManyStepsAndAtTheEnd) {
  Recipe recipe = looked_at(kBackends[1], 3);
  std::vector<Step> steps;
  for (const json& line : layer_lines(train("run", recipe))) steps.push_back(line["step"]);
  EXPECT_THAT(steps, testing::ElementsAre(3, 4));
  recipe.statistics_every.reset();  // 200 steps apart at least
  EXPECT_EQ(layer_lines(train("default", recipe)).size(), 1U);
}

TEST_F(StatisticsRunTest, EventFilesHaveTheNumbersOfTheLog) {
  const fs::path run = train("run", looked_at(kBackends[1], 1));
  std::map<Step, float> told, logged;
  for (const auto& event : event_reader::events(text(run / "events.out.tfevents.bitcycle"))) {
    if (event.scalars.contains("train/loss")) told[event.step] = event.scalars.at("train/loss");
  }
  for (const json& line : json_lines(run / "metrics.jsonl")) {
    if (line["type"] == "step") logged[line["step"]] = line["loss"].get<float>();
  }
  EXPECT_FALSE(logged.empty());
  EXPECT_EQ(told, logged);
}

// Every record of a stopped and resumed run is there, once, and as without the stop.
TEST_F(StatisticsRunTest, AndEventFilesAreWholeAfterAResume) {
  const Recipe recipe = looked_at(kBackends[1], 1);
  const fs::path whole = train("whole", recipe);
  const fs::path run = train_and_stop("run", recipe, 2);
  write_file(run / "layers.jsonl", text(run / "layers.jsonl") + "{\"step\": 3, \"lay");
  write_file(run / "events.out.tfevents.bitcycle",
             text(run / "events.out.tfevents.bitcycle") + "half a record");
  resume(run, recipe);
  expect_same_bytes(whole, run);
  const auto events = event_reader::events(text(run / "events.out.tfevents.bitcycle"));
  EXPECT_EQ(events.front().version, "brain.Event:2");
  EXPECT_THAT(events.at(1).texts.at("recipe"), testing::HasSubstr("name = \"cifar_resnet8\""));
  std::map<std::string, int> seen;
  for (const auto& event : events) {
    for (const auto& [tag, value] : event.scalars) ++seen[tag];
  }
  EXPECT_EQ(seen["layer_sqnr_db/conv1/weight"], 4);
  EXPECT_GE(seen["train/loss"], 1);
  EXPECT_GE(seen["validation/accuracy"], 1);
  EXPECT_GE(seen["test/accuracy"], 1);
}

// Sinks that cannot write.

class FailingSink : public EventSink {
 public:
  FailingSink(Importance importance, Step at) : importance_(importance), at_(at) {}
  std::string name() const override { return "failing"; }
  Importance importance() const override { return importance_; }
  void step(const StepReport& report) override {
    ++told;
    if (report.step == at_) throw Error(ErrorCode::io, "no space left", "Free some.");
  }
  int told = 0;

 private:
  Importance importance_;
  Step at_;
};

TEST_F(StatisticsRunTest, ARunGoesOnWithoutASinkThatItCanDoWithout) {
  const auto failing = std::make_shared<FailingSink>(Importance::dispensable, 2);
  std::vector<std::string> lost;
  EventSinks sinks = calling({.lost_sink = [&](const LostSinkReport& report) {
    lost.push_back(report.sink + ": " + report.reason);
  }});
  sinks.push_back(failing);
  fs::create_directories(root_ / "run");
  Trainer trainer(looked_at(kBackends[1], 1), root_ / "run", sinks);
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_THAT(lost, testing::ElementsAre("failing: no space left"));
  EXPECT_EQ(failing->told, 2);
}

TEST_F(StatisticsRunTest, ARunEndsWithASinkThatItNeeds) {
  fs::create_directories(root_ / "run");
  Trainer trainer(looked_at(kBackends[1], 1), root_ / "run",
                  {std::make_shared<FailingSink>(Importance::essential, 2)});
  EXPECT_THROW(trainer.run(StopSignal()), Error);
}

// The files themselves, at a place where nothing can be written.
TEST_F(StatisticsRunTest, ARunGoesOnWhereFilesThatItCanDoWithoutCannotBeWritten) {
  const fs::path run = root_ / "run";
  for (const char* file : {"layers.jsonl", "events.out.tfevents.bitcycle"}) {
    fs::create_directories(run / file);
  }
  std::vector<std::string> lost;
  Trainer trainer(
      looked_at(kBackends[1], 1), run,
      calling({.lost_sink = [&](const LostSinkReport& report) { lost.push_back(report.sink); }}));
  EXPECT_EQ(trainer.run(StopSignal()), TrainOutcome::finished);
  EXPECT_THAT(lost, testing::ElementsAre("layers.jsonl", "events.out.tfevents.bitcycle"));
  const fs::path whole = train("whole", looked_at(kBackends[1], 1));
  EXPECT_EQ(text(run / "metrics.jsonl"), text(whole / "metrics.jsonl"));
}

TEST_F(StatisticsRunTest, AResumedRunStartsAFileAnewThatSomebodyRemoved) {
  const Recipe recipe = looked_at(kBackends[1], 1);
  const fs::path run = train_and_stop("run", recipe, 2);
  fs::remove(run / "layers.jsonl");
  fs::remove(run / "events.out.tfevents.bitcycle");
  resume(run, recipe);
  EXPECT_EQ(layer_lines(run).size(), 2U);
  EXPECT_EQ(layer_lines(run).front()["step"], 3);
  EXPECT_NO_THROW(event_reader::events(text(run / "events.out.tfevents.bitcycle")));
}

}  // namespace
}  // namespace bitcycle
