// MobileNetV2 as CPT trains it on CIFAR. A block expands by a 1x1 convolution (even where the
// expansion is 1), filters depthwise, and projects without an activation.

#include "network/builder.h"
#include "network/families.h"

namespace bitcycle {
namespace {

struct Stage {
  int expansion, channels, blocks, stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 1},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

// What a block adds to its output: nothing across a stride, else its input, projected if need be.
int shortcut(NetworkBuilder& network, int input, const std::string& prefix, int channels,
             int stride) {
  if (stride != 1) return kNone;
  if (network.shape(input).channels == channels) return input;
  return network.convolution(input, prefix + "shortcut.0", prefix + "shortcut.1",
                             {.channels = channels, .activation = Activation::none});
}

int block(NetworkBuilder& network, int input, const std::string& prefix, const Stage& stage,
          int stride) {
  const int wide = stage.expansion * network.shape(input).channels;
  int node = network.convolution(input, prefix + "conv1", prefix + "bn1", {.channels = wide});
  node = network.convolution(node, prefix + "conv2", prefix + "bn2",
                             {.channels = wide, .kernel = 3, .stride = stride, .groups = wide});
  const int residual = shortcut(network, input, prefix, stage.channels, stride);
  return network.convolution(
      node, prefix + "conv3", prefix + "bn3",
      {.channels = stage.channels, .residual = residual, .activation = Activation::none});
}

}  // namespace

Network cifar_mobilenet_v2(const std::string& name, const ImageShape& input, int classes) {
  NetworkBuilder network(name, input, classes, WeightInit::uniform_fan_in);
  network.set_gates({.hidden = 64, .embedding = 32, .state = 32});
  int node = network.convolution(kInput, "conv1", "bn1", {.channels = 32, .kernel = 3});
  int number = 0;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string prefix = "layers." + std::to_string(number++) + ".";
      const int first = network.next();
      node = block(network, node, prefix, stage, i == 0 ? stage.stride : 1);
      network.end_block(first);
    }
  }
  node = network.convolution(node, "conv2", "bn2", {.channels = 1280});
  return network.classifier(node, "linear", WeightInit::uniform_fan_in);
}

}  // namespace bitcycle
