#pragma once

// The values of tests/golden/schemes, and how near to them is near enough for float.

#include "bitcycle/base/random.h"
#include "bitcycle/quant/torch.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/types.h>

namespace bitcycle {

inline const nlohmann::json& golden_values() {
  static const nlohmann::json values =
      nlohmann::json::parse(std::ifstream(BITCYCLE_SOURCE_DIR "/tests/golden/schemes/values.json"));
  return values;
}

inline at::Tensor to_tensor(const nlohmann::json& values) {
  if (!values.at(0).is_array()) {
    return torch::tensor(values.get<std::vector<double>>(), at::kDouble).to(at::kFloat);
  }
  std::vector<at::Tensor> rows;
  for (const nlohmann::json& row : values) rows.push_back(to_tensor(row));
  return at::stack(rows);
}

inline at::Tensor golden_tensor(const std::string& name) {
  return to_tensor(golden_values().at(name));
}
inline at::Tensor golden_tensor(const std::string& group, const std::string& name) {
  return to_tensor(golden_values().at(group).at(name));
}
inline at::Tensor golden_at(const std::string& group, const std::string& name, int bits) {
  return to_tensor(golden_values().at(group).at(name).at(std::to_string(bits)));
}

inline NoiseKey golden_key() {
  const nlohmann::json& key = golden_values().at("key");
  return {key.at(0).get<std::uint32_t>(), key.at(1).get<std::uint32_t>()};
}

// Lists of pictures in the order samples, rows, columns, channels.
inline at::Tensor golden_pictures(const std::string& group, const std::string& name) {
  const auto shape = golden_values().at("pictures").at("shape").get<std::vector<std::int64_t>>();
  return golden_tensor(group, name).reshape(shape).permute({0, 3, 1, 2});
}

inline bool near(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && at::allclose(a, b, 1e-5, 1e-6);
}

}  // namespace bitcycle
