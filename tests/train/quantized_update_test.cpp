// SGD whose arithmetic a scheme quantizes, against the paths of an independent program
// (tests/golden/schemes).

#include "bitcycle/base/error.h"
#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/quant/schemes.h"
#include "bitcycle/train/optimizer.h"

#include "quant/golden_values.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

const nlohmann::json& golden() {
  return golden_values().at("wageubn_update");
}

OptimizerRecipe golden_recipe() {
  return {.lr = golden().at("lr"),
          .momentum = golden().at("momentum"),
          .weight_decay = golden().at("decay")};
}

// The golden path's noise in place of that of the step's key.
UpdateQuantizer with_golden_noise(UpdateQuantizer quantizers, const std::size_t& step) {
  quantizers.gradient = [&step, inner = quantizers.gradient](const at::Tensor& gradient,
                                                             ParameterUpdate update) {
    const nlohmann::json& key = golden().at("keys").at(step);
    update.noise = {key.at(0).get<std::uint32_t>(), key.at(1).get<std::uint32_t>()};
    return inner(gradient, update);
  };
  return quantizers;
}

// A unit with 8 weights and 8 channels, so that its weights and gammas can be the golden ones.
ConvUnit golden_unit() {
  ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(1, 8, 1).bias(false)});
  const at::Tensor start = golden_tensor("weights");
  unit->conv->weight.set_data(start.clone().view({8, 1, 1, 1}));
  unit->norm->weight.set_data(start.clone());
  return unit;
}

void expect_path(const std::string& role, const at::Tensor& parameter, const at::Tensor& momentum,
                 std::size_t step) {
  const nlohmann::json& expected = golden().at(role).at(step);
  EXPECT_TRUE(at::allclose(parameter.flatten(), to_tensor(expected.at("parameter")), 0, 1.3e-7))
      << role << " " << step << parameter.flatten();
  EXPECT_TRUE(momentum.flatten().equal(to_tensor(expected.at("momentum")))) << role << " " << step;
}

TEST(QuantizedUpdateTest, FollowsTheEquationsStepByStep) {
  ConvUnit unit = golden_unit();
  std::size_t step = 0;
  Optimizer optimizer(*unit, golden_recipe(),
                      with_golden_noise(wageubn_full_scheme().update, step));
  const NamedTensors state = optimizer.state();
  for (; step < golden().at("gradients").size(); ++step) {
    unit->conv->set_precision({8, 8, golden().at("bits")}, RandomKey(step));
    const at::Tensor gradient = to_tensor(golden().at("gradients").at(step));
    unit->conv->weight.mutable_grad() = gradient.clone().view({8, 1, 1, 1});
    unit->norm->weight.mutable_grad() = gradient.clone();
    optimizer.step(golden().at("lr"), {static_cast<std::int64_t>(step),
                                       golden().at("progress").at(step).get<double>()});
    expect_path("weight", unit->conv->weight, state.at("conv.weight.momentum"), step);
    expect_path("norm", unit->norm->weight, state.at("norm.weight.momentum"), step);
  }
}

TEST(QuantizedUpdateTest, IsPlainWhereTheLayerIsInFloatButForTheRate) {
  ConvUnit quantized = golden_unit(), plain = golden_unit();
  Optimizer one(*quantized, golden_recipe(), wageubn_full_scheme().update);
  Optimizer other(*plain, golden_recipe());
  for (ConvUnit unit : {quantized, plain}) {
    unit->conv->weight.mutable_grad() = at::full({8, 1, 1, 1}, 0.123f);
  }
  one.step(0.05, 0);
  other.step(26.0 / 512, 0);
  EXPECT_TRUE(quantized->conv->weight.equal(plain->conv->weight));
}

TEST(QuantizedUpdateTest, NoiseIsThatOfTheStep) {
  std::vector<at::Tensor> gradients;
  for (const std::uint64_t step : {1, 1, 2}) {
    ConvUnit unit(ConvUnitOptions{torch::nn::Conv2dOptions(8, 8, 3).bias(false)});
    unit->conv->weight.set_data(at::zeros_like(unit->conv->weight));
    unit->conv->set_precision({8, 8, 8}, RandomKey(step));
    Optimizer optimizer(*unit, golden_recipe(), wageubn_full_scheme().update);
    unit->conv->weight.mutable_grad() = torch::linspace(-1, 1, 576).view({8, 8, 3, 3});
    optimizer.step(0.05, 0);
    gradients.push_back(unit->conv->weight.grad());
  }
  EXPECT_TRUE(gradients[0].equal(gradients[1]));
  EXPECT_FALSE(gradients[0].equal(gradients[2]));
}

TEST(QuantizedUpdateTest, IsRefusedToOtherRules) {
  ConvUnit unit = golden_unit();
  OptimizerRecipe recipe;
  recipe.name = OptimizerRecipe::Name::adam;
  EXPECT_THROW(Optimizer(*unit, recipe, wageubn_full_scheme().update), Error);
  EXPECT_NO_THROW(Optimizer(*unit, recipe, wageubn_lite_scheme().update));
}

}  // namespace
}  // namespace bitcycle
