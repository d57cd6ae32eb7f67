#pragma once

// Finds where values stopped being finite.

#include "bitcycle/models/network_model.h"

#include <string>

namespace bitcycle {

// Runs the model on `images` again and names the first layer whose output is not finite, "" if all
// are. Moves running statistics: call it only when the run is lost.
std::string first_nonfinite_layer(NetworkModelImpl& model, const at::Tensor& images);

// The first parameter or buffer that holds a value which is not finite, "" if none does.
std::string first_nonfinite_tensor(const torch::nn::Module& model);

}  // namespace bitcycle
