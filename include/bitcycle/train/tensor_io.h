#pragma once

// Named tensors to and from safetensors files. Values are stored in plain row-major order, whatever
// the tensor's memory order or device, so that other programs read them as they expect.

#include "bitcycle/io/safetensors.h"
#include "bitcycle/train/optimizer.h"

namespace bitcycle {

// Parameters and buffers of a model by name.
NamedTensors model_state(const torch::nn::Module& model);

// A stored tensor in memory of its own.
at::Tensor to_tensor(const TensorBytes& stored);

std::vector<std::byte> encode_tensors(const NamedTensors& tensors);

// Writes stored values into existing tensors. Throws Error(checkpoint) that names `origin` unless
// names, shapes and types agree exactly.
void restore_tensors(std::vector<std::byte> bytes, const std::string& origin,
                     const NamedTensors& tensors);

}  // namespace bitcycle
