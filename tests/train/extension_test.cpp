// A task, a policy, a scheme and a sink of one's own, as CONTRIBUTING.md says that they are added.

#include "bitcycle/base/error.h"
#include "bitcycle/config/backend.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/io/file.h"
#include "bitcycle/io/line_log.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/train/cost_meter.h"
#include "bitcycle/train/trainer.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"
#include "train/callback_sink.h"

#include <csignal>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

// Goes from 4 to 8 bits once the loss of a step is no lower than that of the step before.
class StallPolicy : public PrecisionPolicy {
 public:
  explicit StallPolicy(std::vector<LayerInfo> layers) : layers_(std::move(layers)) {}

  const std::vector<LayerInfo>& layers() const override { return layers_; }
  StepBits decide(Step) const override { return all(raised_ ? 8 : 4); }
  StepBits evaluation(const EvaluationBits&, Step) const override { return all(8); }
  std::vector<LayerWidths> widths() const override {
    return std::vector<LayerWidths>(layers_.size(), {{4, 8}, {4, 8}, {8, 8}});
  }
  std::optional<StageChange> observe(Step step, const MetricSums& metrics) override {
    const double loss = metrics.entries().front().sum / metrics.entries().front().count;
    const bool stalls = !raised_ && last_ > 0 && loss >= last_;
    last_ = loss;
    if (!stalls) return {};
    raised_ = true;
    return StageChange{step + 1, "4/8", "8/8", "the loss did not fall"};
  }
  PolicyState state() const override { return {{"stall", {raised_ ? 1.0 : 0.0, last_}}}; }
  void restore(const PolicyState& state) override {
    raised_ = state.at("stall")[0] != 0;
    last_ = state.at("stall")[1];
  }

 private:
  StepBits all(int bits) const {
    const std::vector<LayerBits> layers(layers_.size(), {bits, bits, 8});
    return {layers, layers, layers.front()};
  }
  std::vector<LayerInfo> layers_;
  bool raised_ = false;
  double last_ = 0;
};

TEST(OwnPolicyTest, DecidesFromWhatItObservedAndGoesOnFromItsState) {
  const std::vector<LayerInfo> layers = layers_of(make_network("cifar_resnet8"));
  StallPolicy policy(layers);
  EXPECT_EQ(policy.decide(0).common.weight, 4);
  EXPECT_FALSE(policy.observe(0, {{"loss", 2, 1}}));
  EXPECT_FALSE(policy.observe(1, {{"loss", 1, 1}}));
  const auto change = policy.observe(2, {{"loss", 3, 2}});
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->step, 3);
  EXPECT_EQ(policy.decide(3).common.weight, 8);
  StallPolicy resumed(layers);
  resumed.restore(policy.state());
  EXPECT_EQ(resumed.decide(3).common.weight, 8);
  const CostMeter meter(resumed);
  EXPECT_EQ(meter.bitops(resumed.decide(3)), meter.static_bitops());
}

// losses.csv, which ends in the same bytes however often the run was stopped.
class CsvSink : public EventSink {
 public:
  explicit CsvSink(fs::path directory) : path_(std::move(directory) / "losses.csv") {}

  std::string name() const override { return "losses.csv"; }
  void begin(const RunStart&, std::uint64_t offset) override { log_.emplace(path_, offset); }
  void step(const StepReport& report) override {
    log_->append(std::to_string(report.step) + "," + std::to_string(report.metrics.front().value));
  }
  std::uint64_t sync() override {
    log_->sync();
    return log_->offset();
  }

 private:
  fs::path path_;
  std::optional<LineLog> log_;
};

class OwnSinkTest : public testing::Test {
 protected:
  Recipe recipe() const {
    return parse_recipe(R"(
      steps = 6
      [model]
      name = "cifar_resnet8"
      [data]
      dataset = "synthetic"
      batch_size = 8
      limit = 32
    )",
                        "own.toml");
  }
  EventSinks sinks(const fs::path& run, Step stop_after) const {
    EventSinks sinks = calling({.step = [stop_after](const StepReport& report) {
      if (report.step == stop_after) std::raise(SIGTERM);
    }});
    sinks.push_back(std::make_shared<CsvSink>(run));
    return sinks;
  }
  fs::path directory(const std::string& name) const {
    fs::create_directories(root_ / name);
    return root_ / name;
  }
  static std::string losses(const fs::path& run) { return text_of(read_file(run / "losses.csv")); }

  TemporaryDirectory root_;
};

TEST_F(OwnSinkTest, NeedsANameOfItsOwn) {
  EventSinks twice = sinks(root_.path(), 0);
  twice.push_back(twice.back());
  EXPECT_THROW(Trainer(recipe(), directory("run"), twice), Error);
}

// Without a word about resuming, a program neither goes on with a run nor destroys it.
TEST_F(OwnSinkTest, RunsThatAreThereAreKept) {
  const fs::path run = root_.path() / "new" / "run";  // which the trainer makes
  Trainer(recipe(), run).run(StopSignal());
  const std::string before = text_of(read_file(run / "metrics.jsonl"));
  EXPECT_THROW(Trainer(recipe(), run).run(StopSignal()), Error);
  EXPECT_EQ(text_of(read_file(run / "metrics.jsonl")), before);
}

TEST_F(OwnSinkTest, ResumesToTheByte) {
  const fs::path whole = directory("whole"), run = directory("run");
  Trainer(recipe(), whole, sinks(whole, 0)).run(StopSignal());
  EXPECT_EQ(std::ranges::count(losses(whole), '\n'), 6);
  {
    const StopSignal stop;
    ASSERT_EQ(Trainer(recipe(), run, sinks(run, 4)).run(stop), TrainOutcome::stopped);
  }
  write_file(run / "losses.csv",
             losses(run) + "9,what a killed process wrote after its checkpoint\n");
  Trainer resumed(recipe(), run, sinks(run, 0));
  ASSERT_TRUE(resumed.resume());
  resumed.run(StopSignal());
  EXPECT_EQ(losses(run), losses(whole));
}

// Fits y = 3 x - 1; batches are functions of their number.
class LineTask : public Task {
 public:
  LineTask() {
    torch::manual_seed(1);
    line_ = model_.register_module("line", QuantLinear(torch::nn::LinearOptions(3, 1)));
  }
  const TaskMetrics& metrics() const override { return metrics_; }
  torch::nn::Module& model() override { return model_; }
  std::vector<LayerInfo> layers() const override { return layers_of(model_); }
  std::int64_t batches_per_epoch() const override { return 4; }
  void require_trainable() override {}
  std::string data_fingerprint() override { return "line"; }
  void start(std::int64_t first_batch) override { next_ = first_batch; }
  TaskLoss next_loss() override {
    const at::Tensor loss = error(static_cast<double>(next_++ % 4));
    return {loss, {{"loss", loss.item<double>(), 1}}, 1};
  }
  std::string first_nonfinite_layer() override { return ""; }
  Score evaluate(Split) override {
    const at::NoGradGuard no_grad;
    return {metrics_.measure({{"loss", error(0.5).item<double>(), 1}}), 1, "points"};
  }

 private:
  at::Tensor error(double x) {
    return (line_->forward(torch::tensor({{x, 1 - x, x / 2}}, torch::kFloat)) - (3 * x - 1))
        .square()
        .sum();
  }
  TaskMetrics metrics_{{"loss"}};
  torch::nn::Module model_;
  QuantLinear line_ = nullptr;
  std::int64_t next_ = 0;
};

class OwnPartsTest : public testing::Test {
 protected:
  Recipe recipe() const {
    Recipe recipe;
    recipe.steps = 12;
    recipe.log_every = 1;
    recipe.model.name = recipe.data.dataset = "line";
    recipe.optimizer = {.lr = 0.01, .momentum = 0, .weight_decay = 0};
    return recipe;
  }
  RunParts parts() const {
    return {.task = [](const auto&...) { return std::make_unique<LineTask>(); }};
  }
  static RunParts with_stall_policy(RunParts parts) {
    parts.policy = [](const PrecisionRecipe&, std::vector<LayerInfo> layers, RunLength) {
      return std::make_unique<StallPolicy>(std::move(layers));
    };
    return parts;
  }
  // All that the run computed.
  std::string trained(const std::string& name, const Recipe& recipe, const RunParts& parts) const {
    Trainer(recipe, root_ / name, {}, parts).run(StopSignal());
    return weights(name);
  }
  std::string weights(const std::string& name) const {
    return text_of(read_file(root_ / name / "checkpoints/step-00000012/model.safetensors"));
  }
  std::string log(const std::string& name) const {
    return text_of(read_file(root_ / name / "metrics.jsonl"));
  }

  TemporaryDirectory root_;
};

TEST_F(OwnPartsTest, ATaskAndAPolicyResumeToTheByte) {
  const RunParts own = with_stall_policy(parts());
  const std::string whole = trained("whole", recipe(), own);
  EXPECT_NE(log("whole").find("the loss did not fall"), std::string::npos);
  {
    const StopSignal stop;
    const auto sinks = calling({.step = [](const StepReport& report) {
      if (report.step == 7) std::raise(SIGTERM);
    }});
    ASSERT_EQ(Trainer(recipe(), root_ / "run", sinks, own).run(stop), TrainOutcome::stopped);
  }
  Trainer resumed(recipe(), root_ / "run", {}, own);
  ASSERT_TRUE(resumed.resume());
  resumed.run(StopSignal());
  EXPECT_EQ(weights("run"), whole);
  EXPECT_EQ(log("run"), log("whole"));
}

TEST_F(OwnPartsTest, APolicyDecidesInPlaceOfTheRecipe) {
  EXPECT_NE(trained("own", recipe(), with_stall_policy(parts())),
            trained("recipe", recipe(), parts()));
}

TEST_F(OwnPartsTest, ASchemeQuantizesAndBelongsToTheRunsIdentity) {
  Recipe wanted = recipe();
  wanted.precision.backend = Backend::automatic;
  wanted.precision.forward = wanted.precision.backward = {.name = "static", .min = 8, .max = 8};
  RunParts zeroed = parts();
  zeroed.scheme = sbm_scheme();
  zeroed.scheme->name = "zeros";
  zeroed.scheme->weight.quantize = [](const at::Tensor& weight, int) {
    return at::zeros_like(weight);
  };
  EXPECT_NE(trained("zeros", wanted, zeroed), trained("named", wanted, parts()));
  EXPECT_NE(log("zeros").substr(0, 100), log("named").substr(0, 100));
  wanted.precision.backend = Backend::integer;
  EXPECT_THROW(Trainer(wanted, root_ / "refused", {}, zeroed), Error);
}

// Halves are exact, so half the gradient at twice the rate is the same update.
TEST_F(OwnPartsTest, ReducedGradientsAreWhatTheUpdateSees) {
  RunParts halved = parts();
  halved.reduce = [](std::vector<at::Tensor>& gradients) {
    EXPECT_EQ(gradients.size(), 2u);
    for (at::Tensor& gradient : gradients) gradient.mul_(0.5);
  };
  Recipe doubled = recipe();
  doubled.optimizer.lr *= 2;
  const std::string plain = trained("plain", recipe(), parts());
  EXPECT_EQ(trained("halved", doubled, halved), plain);
  EXPECT_NE(trained("unhalved", doubled, parts()), plain);
}

}  // namespace
}  // namespace bitcycle
