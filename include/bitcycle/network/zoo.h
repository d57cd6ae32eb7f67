#pragma once

// The networks of the papers, by name.

#include "bitcycle/network/network.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

struct NetworkOptions {
  std::optional<int> classes;       // default: 10 for cifar_*, 1000 else
  std::optional<ImageShape> input;  // default: 3x32x32 for cifar_*, 3x224x224 else
};

// Builds the description of a zoo network: cifar_resnet<6n+2>, cifar_mobilenet_v2, resnet18,
// resnet34, resnet50. Throws Error(usage) naming the nearest known name, and when the images are
// too small for the network or a number is out of range.
Network make_network(std::string_view name, const NetworkOptions& options = {});

struct ZooEntry {
  std::string name;
  std::string summary;
  int default_classes = 10;
};
// What `bitcycle models` lists; any other cifar_resnet<6n+2> works too.
std::vector<ZooEntry> zoo();

}  // namespace bitcycle
