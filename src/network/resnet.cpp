// Post-activation residual networks, for CIFAR (every convolution at the scheduled bits) and for
// ImageNet (first convolution and projections in float), as CPT trains them.

#include "network/builder.h"
#include "network/families.h"

#include <array>

namespace bitcycle {
namespace {

enum class BlockKind { basic, bottleneck };
constexpr int kBottleneckExpansion = 4;

struct Stage {
  int blocks = 0;
  int width = 0;   // channels of the block's 3x3 convolutions
  int stride = 1;  // of the first block
};

class ResNetBuilder {
 public:
  ResNetBuilder(NetworkBuilder& network, BlockKind kind, LayerPrecision projection)
      : network_(network), kind_(kind), projection_(projection) {}

  // Adds "layer<number>" and returns its last node.
  int stage(int input, int number, const Stage& stage) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string prefix = "layer" + std::to_string(number) + "." + std::to_string(i) + ".";
      const int stride = i == 0 ? stage.stride : 1;
      const int first = network_.next();
      input = kind_ == BlockKind::basic ? basic(input, prefix, stage.width, stride)
                                        : bottleneck(input, prefix, stage.width, stride);
      network_.end_block(first);
    }
    return input;
  }

 private:
  int basic(int input, const std::string& prefix, int width, int stride) {
    int node = network_.convolution(input, prefix + "conv1", prefix + "bn1",
                                    {.channels = width, .kernel = 3, .stride = stride});
    const int residual = shortcut(input, prefix, width, stride);
    return network_.convolution(node, prefix + "conv2", prefix + "bn2",
                                {.channels = width, .kernel = 3, .residual = residual});
  }

  int bottleneck(int input, const std::string& prefix, int width, int stride) {
    const int channels = kBottleneckExpansion * width;
    int node = network_.convolution(input, prefix + "conv1", prefix + "bn1", {.channels = width});
    node = network_.convolution(node, prefix + "conv2", prefix + "bn2",
                                {.channels = width, .kernel = 3, .stride = stride});
    const int residual = shortcut(input, prefix, channels, stride);
    return network_.convolution(node, prefix + "conv3", prefix + "bn3",
                                {.channels = channels, .residual = residual});
  }

  // The block's input itself, or its projection where the shape changes.
  int shortcut(int input, const std::string& prefix, int channels, int stride) {
    if (stride == 1 && network_.shape(input).channels == channels) return input;
    return network_.convolution(input, prefix + "downsample.0", prefix + "downsample.1",
                                {.channels = channels,
                                 .stride = stride,
                                 .activation = Activation::none,
                                 .precision = projection_});
  }

  NetworkBuilder& network_;
  BlockKind kind_;
  LayerPrecision projection_;
};

}  // namespace

Network cifar_resnet(const std::string& name, int depth, const ImageShape& input, int classes) {
  const int blocks = (depth - 2) / 6;
  NetworkBuilder network(name, input, classes, WeightInit::normal_fan_out);
  network.set_gates({.hidden = 32, .embedding = 16, .state = 16});
  ResNetBuilder layers(network, BlockKind::basic, LayerPrecision::scheduled);
  int node = network.convolution(kInput, "conv1", "bn1", {.channels = 16, .kernel = 3});
  node = layers.stage(node, 1, {blocks, 16, 1});
  node = layers.stage(node, 2, {blocks, 32, 2});
  node = layers.stage(node, 3, {blocks, 64, 2});
  return network.classifier(node, "fc", WeightInit::normal_product);
}

Network imagenet_resnet(const std::string& name, int depth, const ImageShape& input, int classes) {
  const std::array<int, 4> blocks = depth == 18 ? std::array{2, 2, 2, 2} : std::array{3, 4, 6, 3};
  NetworkBuilder network(name, input, classes, WeightInit::normal_fan_out);
  network.set_gates({.hidden = 0, .embedding = 40, .state = 20});
  ResNetBuilder layers(network, depth == 50 ? BlockKind::bottleneck : BlockKind::basic,
                       LayerPrecision::full);
  int node = network.convolution(
      kInput, "conv1", "bn1",
      {.channels = 64, .kernel = 7, .stride = 2, .precision = LayerPrecision::full});
  node = network.max_pool(node, 3, 2);
  for (int i = 0; i < 4; ++i) {
    const auto count = blocks[static_cast<std::size_t>(i)];
    node = layers.stage(node, i + 1, {count, 64 << i, i == 0 ? 1 : 2});
  }
  return network.classifier(node, "fc", WeightInit::normal_product);
}

}  // namespace bitcycle
