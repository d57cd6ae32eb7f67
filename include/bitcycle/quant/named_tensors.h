#pragma once

#include "bitcycle/quant/torch.h"

#include <map>
#include <string>

namespace bitcycle {

// Tensors that go into a checkpoint together.
using NamedTensors = std::map<std::string, at::Tensor>;

}  // namespace bitcycle
