#pragma once

// The network families of the zoo. zoo.cpp has checked the numbers by the time these are called.

#include "bitcycle/network/network.h"

#include <string>

namespace bitcycle {

// Depth 6n+2, three groups of n basic blocks with 16, 32 and 64 channels (He et al. 2016, 4.2).
Network cifar_resnet(const std::string& name, int depth, const ImageShape& input, int classes);
// Depth 18, 34 or 50; 50 has bottlenecks with the stride on the 3x3 convolution ("v1.5").
Network imagenet_resnet(const std::string& name, int depth, const ImageShape& input, int classes);
// MobileNetV2 for 32x32 images: ReLU, fewer strides, and a projection wherever a block of stride 1
// changes the number of channels.
Network cifar_mobilenet_v2(const std::string& name, const ImageShape& input, int classes);

}  // namespace bitcycle
