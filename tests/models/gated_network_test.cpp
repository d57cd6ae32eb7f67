// Networks whose gates choose the precision of each block for each sample. Choices are forced here,
// so that they are mixed.

#include "bitcycle/base/error.h"
#include "bitcycle/models/network_model.h"
#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/train/tensor_io.h"

#include <gmock/gmock.h>
#include <omp.h>

namespace bitcycle {
namespace {

using ::testing::ElementsAre;

constexpr int kWeightBits = 4;

LayerBits option(int activation, int error) {
  return {kWeightBits, activation, error};
}
const std::vector<LayerBits> kOptions = {option(3, 6), option(4, 6), option(4, 8), option(6, 8),
                                         option(6, 12)};
const std::vector<LayerBits> kWithSkip = {option(0, 0), option(3, 6), option(6, 8)};

struct Setting {
  std::string network = "cifar_resnet8";
  int size = 16;
  std::vector<LayerBits> options = kOptions;
  BlockOptions::Form form = BlockOptions::Form::chosen;
  Executor executor = Executor::integer;
  std::int64_t batch = 6;
};

// The option of sample n in a block.
using Pattern = std::function<int(std::size_t block, std::int64_t sample)>;

class Subject {
 public:
  explicit Subject(const Setting& setting)
      : network_(gated(make_network(setting.network, {.input = {{3, setting.size, setting.size}}}),
                       static_cast<int>(setting.options.size()))),
        model(network_, 1) {
    model->set_options({setting.options, setting.form});
    set_executor(*model, setting.executor);
    std::vector<LayerInfo> layers = layers_of(network_);
    for (const LayerInfo& layer : layers) {
      bits_.layers.push_back(layer.block >= 0 ? option(8, 8) : LayerBits{});
      if (std::ranges::count(layer.tags, "depthwise") > 0) bits_.layers.back() = option(8, 8);
    }
    controller_ = std::make_unique<PrecisionController>(*model, layers, 1);
    step(0);
  }

  void force(const Pattern& pattern) {
    model->gates()->force([pattern](std::size_t block, std::int64_t samples) {
      std::vector<int> chosen;
      for (std::int64_t n = 0; n < samples; ++n) chosen.push_back(pattern(block, n));
      return chosen;
    });
  }
  void step(Step step) { controller_->apply(bits_, step); }
  at::Tensor images(std::int64_t batch) const {
    torch::manual_seed(11);
    const ImageShape& in = network_.input;
    return torch::randn({batch, in.channels, in.height, in.width})
        .contiguous(at::MemoryFormat::ChannelsLast);
  }

 private:
  Network network_;

 public:
  NetworkModel model;

 private:
  StepBits bits_;
  std::unique_ptr<PrecisionController> controller_;
};

using Tensors = std::map<std::string, at::Tensor>;

// Two steps of plain gradient descent; all that they left.
Tensors trained(const Setting& setting, const Pattern& pattern) {
  Subject subject(setting);
  subject.force(pattern);
  const at::Tensor images = subject.images(setting.batch);
  const at::Tensor labels = at::arange(setting.batch, at::kLong) % 10;
  Tensors result;
  for (Step step = 0; step < 2; ++step) {
    subject.step(step);
    subject.model->zero_grad();
    const at::Tensor scores = subject.model->forward(images);
    at::Tensor loss = at::cross_entropy_loss(scores, labels);
    // Something for the gates to learn besides what quantization costs.
    for (const GateChoice& choice : subject.model->gates()->choices()) {
      loss = loss + 0.01 * (choice.mask * at::arange(choice.mask.size(1))).sum();
    }
    loss.backward();
    const torch::NoGradGuard no_grad;
    for (const auto& item : subject.model->named_parameters()) {
      if (!item.value().grad().defined()) continue;
      result["gradient of " + item.key()] = item.value().grad().clone();
      at::Tensor parameter = item.value();
      parameter.sub_(item.value().grad(), 0.05);
    }
    result["scores"] = scores.detach();
  }
  for (const auto& [name, tensor] : model_state(*subject.model)) result[name] = tensor.clone();
  return result;
}

void expect_same_bytes(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
}

const std::map<std::string, Pattern> kPatterns = {
    {"mixed", [](std::size_t block, std::int64_t n) { return static_cast<int>(block + n) % 3; }},
    {"all alike", [](std::size_t, std::int64_t) { return 1; }},
    {"all the first", [](std::size_t, std::int64_t) { return 0; }},
    {"the last sample otherwise", [](std::size_t, std::int64_t n) { return n == 5 ? 0 : 2; }},
};

TEST(GatedNetwork, IsTheSameExecutedAndByTheOracle) {
  for (const auto& [name, pattern] : kPatterns) {
    for (const auto& options : {kOptions, kWithSkip}) {
      SCOPED_TRACE(name + ", " + std::to_string(options.size()) + " options");
      Setting setting{.options = options};
      const Tensors executed = trained(setting, pattern);
      setting.executor = Executor::oracle;
      expect_same_bytes(executed, trained(setting, pattern));
    }
  }
}

// Among them errors of 12 bits.
TEST(GatedNetwork, IsTheSameExecutedAndByTheOracleWithAllFiveOptions) {
  const Pattern all = [](std::size_t block, std::int64_t n) {
    return static_cast<int>(block + n) % 5;
  };
  Setting setting;
  const Tensors executed = trained(setting, all);
  setting.executor = Executor::oracle;
  expect_same_bytes(executed, trained(setting, all));
}

TEST(GatedNetwork, IsTheSameExecutedAndByTheOracleWithOneSample) {
  for (const auto& options : {kOptions, kWithSkip}) {
    Setting setting{.options = options, .batch = 1};
    const Tensors executed = trained(setting, kPatterns.at("mixed"));
    setting.executor = Executor::oracle;
    expect_same_bytes(executed, trained(setting, kPatterns.at("mixed")));
  }
}

TEST(GatedNetwork, IsTheSameExecutedAndByTheOracleInOtherNetworks) {
  for (const char* network : {"cifar_mobilenet_v2", "resnet18", "resnet50"}) {
    SCOPED_TRACE(network);
    Setting setting{.network = network, .size = 32, .batch = 3};
    const Tensors executed = trained(setting, kPatterns.at("mixed"));
    setting.executor = Executor::oracle;
    expect_same_bytes(executed, trained(setting, kPatterns.at("mixed")));
  }
}

// Large enough for batch norm to see several values of a channel where samples skip: with one alone
// the gradients overflow on some machines, and what is not finite equals nothing.
TEST(GatedNetwork, IsTheSameExecutedAndByTheOracleWhereImageNetBlocksAreSkipped) {
  for (const char* network : {"resnet18", "resnet50"}) {
    SCOPED_TRACE(network);
    Setting setting{.network = network, .size = 64, .options = kWithSkip, .batch = 6};
    const Tensors executed = trained(setting, kPatterns.at("mixed"));
    ASSERT_TRUE(executed.at("scores").isfinite().all().item<bool>());
    setting.executor = Executor::oracle;
    expect_same_bytes(executed, trained(setting, kPatterns.at("mixed")));
  }
}

// What is left of an ImageNet ResNet in evaluation where all samples skip all blocks, in plain
// tensor operations: the stem, the projections, the classifier.
at::Tensor without_blocks(NetworkModelImpl& model, const at::Tensor& images) {
  const auto parameters = model.named_parameters();
  const auto buffers = model.named_buffers();
  const auto normed = [&](const at::Tensor& x, const std::string& norm) {
    return at::batch_norm(x, parameters[norm + ".weight"], parameters[norm + ".bias"],
                          buffers[norm + ".running_mean"], buffers[norm + ".running_var"], false,
                          0.1, 1e-5, false);
  };
  at::Tensor x = normed(at::conv2d(images, parameters["conv1.weight"], {}, 2, 3), "bn1").relu();
  x = at::max_pool2d(x, 3, 2, 1);
  for (const int stage : {1, 2, 3, 4}) {
    const std::string name = "layer" + std::to_string(stage) + ".0.downsample";
    if (!parameters.contains(name + ".0.weight")) continue;
    x = normed(at::conv2d(x, parameters[name + ".0.weight"], {}, stage == 1 ? 1 : 2), name + ".1");
  }
  return at::linear(x.mean({2, 3}), parameters["fc.weight"], parameters["fc.bias"]);
}

TEST(GatedNetwork, ImageNetResNetsWithoutTheirBlocksAreStemProjectionsAndClassifier) {
  for (const char* network : {"resnet18", "resnet50"}) {
    for (const Executor executor : {Executor::integer, Executor::simulate}) {
      SCOPED_TRACE(network);
      Subject subject({.network = network, .size = 32, .options = kWithSkip, .executor = executor});
      subject.force([](std::size_t, std::int64_t) { return 0; });
      subject.model->eval();
      const torch::NoGradGuard no_grad;
      const at::Tensor images = subject.images(3);
      const at::Tensor expected = without_blocks(*subject.model, images);
      const at::Tensor found = subject.model->forward(images);
      // Between units that execute, values are halves.
      const double nearly = executor == Executor::simulate ? 1e-4 : 5e-3;
      EXPECT_TRUE(
          at::allclose(found, expected, nearly, nearly * expected.abs().max().item<double>()))
          << found << expected;
    }
  }
}

// A gate sees the mean of each channel, so that every pixel that passed the ReLU has an even share
// of what the gate sends back. Here nothing else reaches the first block.
TEST(GatedNetwork, GradientsOfAGatesInputAreSpreadEvenlyOverPixels) {
  Subject subject({});
  subject.force(kPatterns.at("mixed"));
  std::map<std::string, at::Tensor> outputs;
  subject.model->forward(subject.images(6), [&](const Node& node, const at::Tensor& output) {
    outputs[node.name] = output.detach().to(at::kFloat);
  });
  GatesImpl& gates = *subject.model->gates();
  const auto loss = [&] { return (gates.choices()[1].mask * at::arange(std::int64_t{5})).sum(); };
  loss().backward();
  const at::Tensor found = subject.model->named_parameters()["layer1.0.bn2.bias"].grad();

  const at::Tensor x = outputs.at("layer1.0.conv2");
  const at::Tensor means = x.mean({2, 3}).requires_grad_();
  gates.start();
  gates.choose(outputs.at("conv1").mean({2, 3}));
  gates.choose(means);
  loss().backward();
  const double pixels = static_cast<double>(x.size(2) * x.size(3));
  const at::Tensor expected =
      ((x > 0).to(at::kFloat) * means.grad().view({6, -1, 1, 1}) / pixels).sum({0, 2, 3});
  EXPECT_GT(expected.abs().max().item<double>(), 0);
  EXPECT_TRUE(at::allclose(found, expected, 0.01, 0.01 * expected.abs().max().item<double>()))
      << found << expected;
}

TEST(GatedNetwork, DoesNotDependOnTheNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    for (const auto& options : {kOptions, kWithSkip}) {
      const Setting setting{.options = options, .executor = executor, .batch = 33};
      std::vector<Tensors> results;
      for (const int threads : {1, 2, 3}) {
        at::set_num_threads(threads);
        results.push_back(trained(setting, kPatterns.at("mixed")));
      }
      expect_same_bytes(results[0], results[1]);
      expect_same_bytes(results[0], results[2]);
    }
  }
  at::set_num_threads(before);
}

// In evaluation samples do not see each other, so a sample in a mixed batch gets what it gets where
// all choose as it does.
TEST(GatedNetwork, GivesASampleWhatItGetsAmongItsLikes) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    for (const auto& options : {kOptions, kWithSkip}) {
      Subject subject({.options = options, .executor = executor});
      subject.force(kPatterns.at("mixed"));
      const at::Tensor images = subject.images(6);
      subject.model->forward(images);  // moves ranges and statistics
      subject.model->eval();
      const torch::NoGradGuard no_grad;
      const at::Tensor mixed = subject.model->forward(images);
      for (std::int64_t n = 0; n < 6; ++n) {
        subject.force(
            [n](std::size_t block, std::int64_t) { return kPatterns.at("mixed")(block, n); });
        EXPECT_TRUE(subject.model->forward(images)[n].equal(mixed[n])) << n;
      }
      subject.force([](std::size_t, std::int64_t) { return 2; });
      EXPECT_FALSE(subject.model->forward(images)[0].equal(mixed[0]));
    }
  }
}

// In evaluation, where samples do not see each other, mixing all candidates gives what choosing
// gives.
TEST(GatedNetwork, AllCandidatesMixedGiveWhatTheChosenGive) {
  for (const auto& options : {kOptions, kWithSkip}) {
    const Setting setting{.options = options, .executor = Executor::simulate};
    Subject chosen(setting);
    chosen.force(kPatterns.at("mixed"));
    const at::Tensor images = chosen.images(6);
    chosen.model->forward(images);  // moves ranges and statistics
    const torch::NoGradGuard no_grad;
    // A projection beside a skipped block is in float among the candidates.
    chosen.force([&](std::size_t block, std::int64_t n) {
      const int option = kPatterns.at("mixed")(block, n);
      return block > 0 && options[option].activation == 0 ? 1 : option;
    });
    chosen.model->eval();
    const at::Tensor expected = chosen.model->forward(images);
    chosen.model->set_options({options, BlockOptions::Form::all_candidates});
    const at::Tensor mixed = chosen.model->forward(images);
    EXPECT_TRUE(at::allclose(mixed, expected, 1e-4, 1e-5)) << mixed << expected;
  }
}

TEST(GatedNetwork, BatchNormSeesTheSamplesThatWentThrough) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    const auto statistics = [&](const at::Tensor& images, const Pattern& pattern) {
      Subject subject({.options = kWithSkip, .executor = executor});
      subject.force(pattern);
      subject.model->train();
      subject.model->named_modules()["bn1"]->eval();  // the stem sees all samples
      subject.model->forward(images);
      return subject.model->named_buffers()["layer1.0.bn1.running_mean"].clone();
    };
    const at::Tensor images = Subject({}).images(6);
    const at::Tensor some = images.narrow(0, 0, 4).contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor expected = statistics(some, [](std::size_t, std::int64_t) { return 2; });
    const at::Tensor found =
        statistics(images, [](std::size_t, std::int64_t n) { return n < 4 ? 2 : 0; });
    EXPECT_TRUE(found.equal(expected));
    const at::Tensor all = statistics(images, [](std::size_t, std::int64_t) { return 2; });
    EXPECT_FALSE(found.equal(all));
  }
}

TEST(GatedNetwork, BlocksThatAllSamplesSkipAreLeftAlone) {
  for (const Executor executor : {Executor::integer, Executor::simulate}) {
    Subject subject({.options = kWithSkip, .executor = executor});
    subject.force([](std::size_t, std::int64_t) { return 0; });
    const at::Tensor before = subject.model->named_buffers()["layer1.0.bn1.running_mean"].clone();
    subject.model->forward(subject.images(4)).sum().backward();
    EXPECT_TRUE(subject.model->named_buffers()["layer1.0.bn1.running_mean"].equal(before));
    const auto parameters = subject.model->named_parameters();
    EXPECT_FALSE(parameters["layer1.0.conv1.weight"].grad().defined());
    EXPECT_FALSE(parameters["layer2.0.conv2.weight"].grad().defined());
    EXPECT_TRUE(parameters["layer2.0.downsample.0.weight"].grad().defined());
    EXPECT_TRUE(parameters["conv1.weight"].grad().defined());
  }
}

TEST(GatedNetwork, CountsWhatSamplesHadInEachLayer) {
  Subject subject({.options = kWithSkip});
  subject.force([](std::size_t, std::int64_t n) { return n < 3 ? 0 : n == 3 ? 1 : 2; });
  subject.model->forward(subject.images(6));
  const auto mixture = [&](const char* name) {
    return *dynamic_cast<QuantLayer&>(*subject.model->named_modules()[name]).mixture();
  };
  const Mixture conv = mixture("layer2.0.conv1");
  EXPECT_THAT(conv.bits, ElementsAre(option(3, 6), option(6, 8)));
  EXPECT_THAT(conv.shares, ElementsAre(1.0 / 6, 2.0 / 6));
  const Mixture projection = mixture("layer2.0.downsample.0");
  EXPECT_THAT(projection.bits, ElementsAre(option(6, 8), option(3, 6)));
  EXPECT_THAT(projection.shares, ElementsAre(5.0 / 6, 1.0 / 6));
}

TEST(GatedNetwork, RefusesToSkipWhatHasNoShortcut) {
  EXPECT_THROW(Subject({.network = "cifar_mobilenet_v2", .options = kWithSkip}), Error);
}

}  // namespace
}  // namespace bitcycle
