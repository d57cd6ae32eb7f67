// torchvision's ResNets, by their own names: the logits that PyTorch 2.6 gives for the same
// weights. tests/golden/torchvision/make_logits.py made them, by the same formula.

#include "bitcycle/models/network_model.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/weights.h"

#include "golden/csv.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// Numbers from 0 to below 1 that depend on the name and the index alone.
at::Tensor uniform(const std::string& name, std::int64_t count) {
  std::uint32_t key = 2166136261U;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 16777619U;
  at::Tensor values = at::empty({count}, at::kDouble);
  auto* value = values.data_ptr<double>();
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 747796405U + key;
    x ^= x >> 16;
    x *= 2246822519U;
    x ^= x >> 13;
    value[i] = (x >> 8) / 16777216.0;
  }
  return values;
}

at::Tensor made_up(const std::string& name, at::IntArrayRef shape) {
  if (name.ends_with("num_batches_tracked")) return at::full({}, 7, at::kLong);
  const at::Tensor u = uniform(name, c10::multiply_integers(shape)).view(shape);
  if (shape.size() > 1) {
    const auto fan_in = static_cast<double>(c10::multiply_integers(shape.slice(1)));
    return ((2 * u - 1) * std::sqrt(3 / fan_in)).to(at::kFloat);
  }
  const bool around_one =
      name.ends_with("running_var") || (name.find("fc") == name.npos && name.ends_with("weight"));
  return (around_one ? 0.5 + u : u - 0.5).to(at::kFloat);
}

// What torchvision's state_dict has: all but the running ranges of quantized layers.
WeightsFile torchvision_file(const NamedTensors& state) {
  NamedTensors tensors;
  for (const auto& [name, tensor] : state) {
    const bool ours = name.ends_with("running_range") || name.ends_with("running_zero") ||
                      name.ends_with("steps_tracked");
    if (!ours) tensors.emplace(name, made_up(name, tensor.sizes()));
  }
  return {"torchvision.safetensors", {}, encode_tensors(tensors)};
}

class TorchvisionTest : public testing::TestWithParam<const char*> {};

TEST_P(TorchvisionTest, ItsWeightsGiveItsLogits) {
  const torch::NoGradGuard no_grad;
  NetworkModel model(make_network(GetParam(), {.input = ImageShape{3, 64, 64}}), 1);
  const NamedTensors state = model_state(*model);
  const TakenWeights weights = take_weights(torchvision_file(state), state, "fc");
  EXPECT_TRUE(weights.unused.empty());
  model->eval();
  for (const std::shared_ptr<torch::nn::Module>& module : model->modules()) {
    if (auto* layer = dynamic_cast<QuantLayer*>(module.get())) {
      layer->set_precision({0, 0, 0}, RandomKey(1));
    }
  }
  const at::Tensor pictures = made_up("pictures", {2, 3, 64, 64});
  const at::Tensor logits = model->forward(pictures.contiguous(at::MemoryFormat::ChannelsLast));
  int compared = 0;
  for (const CsvRow& row : golden_rows("torchvision/logits.csv")) {
    if (row.at("model") != GetParam()) continue;
    const at::Tensor logit = logits[std::stol(row.at("picture"))][std::stol(row.at("class"))];
    EXPECT_NEAR(logit.item<double>(), number(row, "logit"), 5e-5);
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

INSTANTIATE_TEST_SUITE_P(Networks, TorchvisionTest,
                         testing::Values("resnet18", "resnet34", "resnet50"));

}  // namespace
}  // namespace bitcycle
