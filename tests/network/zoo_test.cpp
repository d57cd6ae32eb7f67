#include "bitcycle/network/zoo.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using ::testing::HasSubstr;

const Node& find(const Network& network, std::string_view name) {
  const auto found = std::find_if(network.nodes.begin(), network.nodes.end(),
                                  [&](const Node& node) { return node.name == name; });
  EXPECT_NE(found, network.nodes.end()) << name;
  return *found;
}

int count(const Network& network, NodeKind kind) {
  return static_cast<int>(std::count_if(network.nodes.begin(), network.nodes.end(),
                                        [&](const Node& node) { return node.kind == kind; }));
}

std::string message_and_hint(std::string_view name, const NetworkOptions& options = {}) {
  try {
    make_network(name, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return std::string(error.what()) + " | " + error.hint();
  }
  return "no error";
}

struct Counts {
  const char* name;
  int classes;
  std::int64_t parameters;
  std::int64_t macs;
};

class CountsTest : public ::testing::TestWithParam<Counts> {};

// The figures of CPT's own networks; the parameters leave out the batch norms that their code
// creates in every block and never runs.
TEST_P(CountsTest, MatchThePublishedNetworks) {
  const Network network =
      make_network(GetParam().name, {.classes = GetParam().classes, .input = {}});
  EXPECT_EQ(network.parameters(), GetParam().parameters);
  EXPECT_EQ(network.macs(), GetParam().macs);
}

INSTANTIATE_TEST_SUITE_P(Zoo, CountsTest,
                         ::testing::Values(Counts{"cifar_resnet38", 100, 569'972, 83'286'272},
                                           Counts{"cifar_resnet74", 100, 1'153'268, 168'220'928},
                                           Counts{"cifar_resnet110", 100, 1'736'564, 253'155'584},
                                           Counts{"cifar_resnet152", 100, 2'417'076, 352'246'016},
                                           Counts{"cifar_resnet164", 100, 2'611'508, 380'557'568},
                                           Counts{"cifar_mobilenet_v2", 10, 2'296'922, 91'154'944},
                                           Counts{"cifar_mobilenet_v2", 100, 2'412'212, 91'270'144},
                                           Counts{"resnet18", 1000, 11'689'512, 1'814'073'344},
                                           Counts{"resnet34", 1000, 21'797'672, 3'663'761'408},
                                           Counts{"resnet50", 1000, 25'557'032, 4'089'184'256}),
                         [](const auto& info) {
                           return std::string(info.param.name) + "_" +
                                  std::to_string(info.param.classes);
                         });

// Three layers at 16 x 32 x 32; two and a shortcut at 32 x 16 x 16 and at 64 x 8 x 8; ten classes.
TEST(NetworkTest, ActivationsAreTheLayersOutputs) {
  EXPECT_EQ(make_network("cifar_resnet8").activations(), 3 * 16384 + 3 * 8192 + 3 * 4096 + 10);
}

TEST(ZooTest, CifarResNetsOfEveryDepthHaveTheirLayers) {
  for (const int n : {1, 2, 3, 4, 100}) {
    const Network network = make_network("cifar_resnet" + std::to_string(6 * n + 2));
    // Depth counts the 3x3 convolutions and the final layer; two projections come on top.
    EXPECT_EQ(count(network, NodeKind::convolution), 6 * n + 1 + 2);
    // Closed form of the weights: stem, 3x3 convolutions, projections, batch norms, classifier.
    const std::int64_t weights =
        432 + 9LL * (2 * n * 256 + (2 * n - 1) * 1024 + 512 + (2 * n - 1) * 4096 + 2048);
    const std::int64_t projections = 512 + 2048;
    const std::int64_t norms = 2LL * (16 + 2 * n * (16 + 32 + 64) + 32 + 64);
    EXPECT_EQ(network.parameters(), weights + projections + norms + 650);
  }
}

TEST(ZooTest, NamesAreThoseOfPyTorchModules) {
  const Network resnet = make_network("cifar_resnet14");
  EXPECT_EQ(find(resnet, "conv1").norm_name, "bn1");
  EXPECT_EQ(find(resnet, "layer1.1.conv2").norm_name, "layer1.1.bn2");
  EXPECT_EQ(find(resnet, "layer2.0.downsample.0").norm_name, "layer2.0.downsample.1");
  EXPECT_EQ(resnet.nodes.back().name, "fc");
  const Network mobilenet = make_network("cifar_mobilenet_v2");
  EXPECT_EQ(find(mobilenet, "layers.16.conv3").norm_name, "layers.16.bn3");
  EXPECT_EQ(find(mobilenet, "conv2").norm_name, "bn2");
  EXPECT_EQ(mobilenet.nodes.back().name, "linear");
  EXPECT_EQ(find(make_network("resnet50"), "layer1.0.downsample.0").out.channels, 256);
}

TEST(ZooTest, LayerNamesAreUnique) {
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    std::set<std::string> names;
    for (const Node& node : network.nodes) {
      EXPECT_TRUE(names.insert(node.name).second) << node.name;
      if (node.norm_name.empty()) continue;
      EXPECT_TRUE(names.insert(node.norm_name).second) << node.norm_name;
    }
  }
}

TEST(ZooTest, NodesReadEarlierNodesOfTheirShape) {
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    for (int i = 0; i < static_cast<int>(network.nodes.size()); ++i) {
      const Node& node = network.nodes[static_cast<std::size_t>(i)];
      const auto shape = [&](int j) {
        return j == kInput ? network.input : network.nodes[static_cast<std::size_t>(j)].out;
      };
      ASSERT_LT(node.input, i);
      ASSERT_LT(node.residual, i);
      EXPECT_EQ(node.in, shape(node.input)) << node.name;
      if (node.residual == kNone) continue;
      EXPECT_EQ(node.out, shape(node.residual)) << node.name;
    }
    EXPECT_EQ(network.nodes.back().out, (ImageShape{entry.default_classes, 1, 1}));
  }
}

TEST(ZooTest, CifarNetworksKeepOnlyTheClassifierInFloat) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2"}) {
    const Network network = make_network(name);
    for (const Node& node : network.nodes) {
      if (!node.has_weights()) continue;
      EXPECT_EQ(node.precision == LayerPrecision::full, node.kind == NodeKind::linear) << node.name;
    }
  }
}

TEST(ZooTest, ImageNetNetworksKeepStemProjectionsAndClassifierInFloat) {
  for (const char* name : {"resnet18", "resnet50"}) {
    for (const Node& node : make_network(name).nodes) {
      if (!node.has_weights()) continue;
      const bool special = node.name == "conv1" || node.name == "fc" ||
                           node.name.find("downsample") != std::string::npos;
      EXPECT_EQ(node.precision == LayerPrecision::full, special) << node.name;
    }
  }
}

TEST(ZooTest, MobileNetHasItsShortcutsAndInitialisation) {
  const Network network = make_network("cifar_mobilenet_v2");
  EXPECT_EQ(count(network, NodeKind::convolution), 57);
  std::set<std::string> shortcuts;
  for (const Node& node : network.nodes) {
    if (!node.has_weights()) continue;
    EXPECT_EQ(node.init, WeightInit::uniform_fan_in);
    if (node.name.find("shortcut") != std::string::npos) shortcuts.insert(node.name);
  }
  EXPECT_EQ(shortcuts, (std::set<std::string>{"layers.0.shortcut.0", "layers.1.shortcut.0",
                                              "layers.10.shortcut.0", "layers.16.shortcut.0"}));
  EXPECT_TRUE(find(network, "layers.3.conv2").depthwise());
  EXPECT_EQ(find(network, "layers.3.conv3").residual, kNone);  // stride 2
  EXPECT_EQ(find(network, "layers.3.conv3").activation, Activation::none);
}

TEST(ZooTest, BottlenecksStrideOnTheirMiddleConvolution) {
  const Network network = make_network("resnet50");
  EXPECT_EQ(find(network, "layer2.0.conv1").stride, 1);
  EXPECT_EQ(find(network, "layer2.0.conv2").stride, 2);
}

TEST(ZooTest, TakesOtherImagesAndClasses) {
  const Network network =
      make_network("cifar_resnet8", {.classes = 7, .input = ImageShape{1, 28, 20}});
  EXPECT_EQ(find(network, "conv1").in.channels, 1);
  EXPECT_EQ(find(network, "avgpool").in, (ImageShape{64, 7, 5}));
  EXPECT_EQ(network.nodes.back().out.channels, 7);
}

TEST(ZooTest, SmallestImagesWorkAndSmallerOnesAreRefused) {
  EXPECT_NO_THROW(make_network("cifar_resnet8", {.classes = {}, .input = ImageShape{3, 3, 3}}));
  EXPECT_THAT(message_and_hint("cifar_resnet8", {.classes = {}, .input = ImageShape{3, 2, 32}}),
              HasSubstr("images of 2x32 are too small for cifar_resnet8: layer3.0.conv1"));
  EXPECT_THAT(message_and_hint("resnet18", {.classes = {}, .input = ImageShape{3, 16, 16}}),
              HasSubstr("too small"));
}

TEST(ZooTest, RefusesNumbersOutOfRange) {
  EXPECT_THAT(message_and_hint("resnet18", {.classes = 0, .input = {}}),
              HasSubstr("classes must be 1 to"));
  EXPECT_THAT(message_and_hint("resnet18", {.classes = {}, .input = ImageShape{0, 32, 32}}),
              HasSubstr("channels must be 1 to"));
  EXPECT_THAT(message_and_hint("resnet18", {.classes = {}, .input = ImageShape{3, 32, -1}}),
              HasSubstr("width of the images must be 1 to"));
}

TEST(ZooTest, UnknownNamesGetTheNearest) {
  EXPECT_THAT(message_and_hint("cifar_resnet21"), HasSubstr("Did you mean \"cifar_resnet20\"?"));
  EXPECT_THAT(message_and_hint("cifar_resnet2"), HasSubstr("Did you mean \"cifar_resnet8\"?"));
  EXPECT_THAT(message_and_hint("cifar_resnet24"), HasSubstr("Did you mean \"cifar_resnet26\"?"));
  EXPECT_THAT(message_and_hint("cifar_resnet999998"), HasSubstr("at most 10000"));
  EXPECT_THAT(message_and_hint("cifar_mobilenetv2"), HasSubstr("\"cifar_mobilenet_v2\"?"));
  EXPECT_THAT(message_and_hint("resnet19"), HasSubstr("Did you mean \"resnet18\"?"));
  EXPECT_THAT(message_and_hint("cifar_resnet20x"), HasSubstr("Did you mean \"cifar_resnet20\"?"));
  EXPECT_THAT(message_and_hint("cifar_resnet020"), HasSubstr("no network \"cifar_resnet020\""));
  EXPECT_THAT(message_and_hint("cifar_resnet-20"), HasSubstr("no network"));
  EXPECT_THAT(message_and_hint("vgg"), HasSubstr("Known names: cifar_resnet8, "));
}

}  // namespace
}  // namespace bitcycle
