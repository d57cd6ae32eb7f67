#pragma once

#include "bitcycle/quant/torch.h"

#include <memory>
#include <string>

namespace bitcycle {

// Registers `module` below `root` at a dotted path ("layer1.0.conv1"), making the containers in
// between, so that parameters get the names they have in PyTorch.
inline void register_at_path(torch::nn::Module& root, const std::string& path,
                             std::shared_ptr<torch::nn::Module> module) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) {
    root.register_module(path, std::move(module));
    return;
  }
  const std::string head = path.substr(0, dot);
  const auto children = root.named_children();
  const auto* existing = children.find(head);
  auto container = existing != nullptr
                       ? *existing
                       : root.register_module(head, std::make_shared<torch::nn::Module>(head));
  register_at_path(*container, path.substr(dot + 1), std::move(module));
}

}  // namespace bitcycle
