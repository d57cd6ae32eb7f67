#pragma once

#include "bitcycle/quant/torch.h"

#include <string>

namespace bitcycle {

// The first parameter or buffer that holds a value which is not finite, "" if none does.
std::string first_nonfinite_tensor(const torch::nn::Module& model);

}  // namespace bitcycle
