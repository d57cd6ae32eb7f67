#pragma once

// Expected values by name, from tests/models/language/golden.

#include "bitcycle/io/file.h"
#include "bitcycle/io/safetensors.h"
#include "bitcycle/quant/torch.h"

#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {

using Tensors = std::map<std::string, at::Tensor>;

inline std::string golden_path(const std::string& file) {
  return std::string(BITCYCLE_SOURCE_DIR) + "/tests/models/language/golden/" + file;
}

inline at::Tensor golden_tensor(const TensorBytes& stored) {
  const at::ScalarType type = stored.type == DataType::f64   ? at::kDouble
                              : stored.type == DataType::f32 ? at::kFloat
                                                             : at::kLong;
  at::Tensor tensor = at::empty(stored.shape, type);
  std::memcpy(tensor.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return tensor;
}

// "lstm/tied_weights" and the like.
inline Tensors golden(const std::string& name) {
  const std::string path = golden_path(name + ".safetensors");
  Tensors tensors;
  for (const auto& [key, stored] : decode_safetensors(read_file(path), path).tensors) {
    tensors[key] = golden_tensor(stored);
  }
  return tensors;
}

inline nlohmann::json golden_summary(const std::string& model) {
  return nlohmann::json::parse(std::ifstream(golden_path(model + "/summary.json")));
}

// The entries below a prefix, without it.
inline Tensors part_of(const Tensors& all, const std::string& prefix) {
  Tensors part;
  for (const auto& [name, tensor] : all) {
    if (name.starts_with(prefix)) part[name.substr(prefix.size())] = tensor;
  }
  return part;
}

inline void expect_close(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const at::Tensor distance = (actual.detach().to(at::kDouble) - expected).abs();
  EXPECT_LE(distance.max().item<double>(), tolerance) << what;
}

inline std::vector<at::Tensor> gradients_of(const torch::nn::Module& model) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : model.parameters()) gradients.push_back(parameter.grad());
  return gradients;
}

}  // namespace bitcycle
