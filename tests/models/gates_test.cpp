#include "bitcycle/models/gates.h"

#include "bitcycle/models/precision_controller.h"
#include "bitcycle/network/zoo.h"

#include <gmock/gmock.h>
#include <torch/nn/functional/linear.h>

namespace bitcycle {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

Network with_gates(std::string_view name, int options) {
  return gated(make_network(name), options);
}

at::Tensor parameter(const Gates& gates, const std::string& name) {
  return gates->named_parameters()[name];
}

at::Tensor linear(const Gates& gates, const std::string& layer, const at::Tensor& x) {
  return at::linear(x, parameter(gates, layer + ".weight"), parameter(gates, layer + ".bias"));
}

// The probabilities of the options by LibTorch's own operations.
std::vector<at::Tensor> probabilities(const Gates& gates, const std::vector<at::Tensor>& means) {
  std::vector<at::Tensor> result;
  at::Tensor h = at::zeros({means[0].size(0), 16}), c = h;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const std::string block = std::to_string(i);
    const at::Tensor embedded =
        linear(gates, block + ".2", linear(gates, block + ".0", means[i]).relu());
    std::tie(h, c) = at::lstm_cell(embedded, {h, c}, parameter(gates, "ih.weight"),
                                   parameter(gates, "hh.weight"), parameter(gates, "ih.bias"),
                                   parameter(gates, "hh.bias"));
    result.push_back(linear(gates, "head", h).softmax(1));
  }
  return result;
}

std::vector<at::Tensor> some_means(std::int64_t samples) {
  torch::manual_seed(5);
  return {at::randn({samples, 16}), at::randn({samples, 16}), at::randn({samples, 32})};
}

TEST(GatesModule, ChoosesTheMostProbableOption) {
  Gates gates(with_gates("cifar_resnet8", 5), 3);
  const auto means = some_means(64);
  const auto expected = probabilities(gates, means);
  gates->start();
  std::set<int> seen;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const GateChoice& choice = gates->choose(means[i]);
    const at::Tensor best = expected[i].argmax(1);
    for (std::int64_t n = 0; n < 64; ++n) {
      EXPECT_EQ(choice.of_sample[n], best[n].item<std::int64_t>());
      seen.insert(choice.of_sample[n]);
    }
    EXPECT_TRUE(choice.mask.equal(at::one_hot(best, 5).to(at::kFloat)));
  }
  EXPECT_GT(seen.size(), 1u);  // else nothing was tried
}

// Straight through: the gradient of a sum over masks is that of the same sum over probabilities,
// through cell and embeddings, and to the means.
TEST(GatesModule, GradientsAreThoseOfTheProbabilities) {
  Gates gates(with_gates("cifar_resnet8", 4), 3);
  auto means = some_means(7);
  for (at::Tensor& x : means) x.requires_grad_();
  const auto factors = std::vector{at::randn({7, 4}), at::randn({7, 4}), at::randn({7, 4})};
  gates->start();
  at::Tensor by_mask = at::zeros({}), by_probability = at::zeros({});
  for (std::size_t i = 0; i < means.size(); ++i) {
    by_mask = by_mask + (gates->choose(means[i]).mask * factors[i]).sum();
  }
  by_mask.backward();
  std::vector<at::Tensor> found;
  for (const at::Tensor& p : gates->parameters()) found.push_back(p.grad().clone());
  for (const at::Tensor& x : means) found.push_back(x.grad().clone());
  gates->zero_grad();
  for (at::Tensor& x : means) x.mutable_grad().reset();
  const auto p = probabilities(gates, means);
  for (std::size_t i = 0; i < p.size(); ++i) {
    by_probability = by_probability + (p[i] * factors[i]).sum();
  }
  by_probability.backward();
  std::vector<at::Tensor> expected;
  for (const at::Tensor& parameter : gates->parameters()) expected.push_back(parameter.grad());
  for (const at::Tensor& x : means) expected.push_back(x.grad());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GT(expected[i].abs().max().item<float>(), 0);
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-4, 1e-6)) << i;
  }
}

TEST(GatesModule, TakesTheFirstOfEqualScores) {
  Gates gates(with_gates("cifar_resnet8", 3), 1);
  const torch::NoGradGuard no_grad;
  for (at::Tensor& p : gates->parameters()) p.zero_();
  gates->start();
  EXPECT_THAT(gates->choose(at::randn({4, 16})).of_sample, Each(0));
}

TEST(GatesModule, CanBeForced) {
  Gates gates(with_gates("cifar_resnet8", 3), 1);
  gates->force([](std::size_t block, std::int64_t) {
    return std::vector<int>{static_cast<int>(block), 2};
  });
  gates->start();
  EXPECT_THAT(gates->choose(at::randn({2, 16})).of_sample, ElementsAre(0, 2));
  const GateChoice& second = gates->choose(at::randn({2, 16}));
  EXPECT_THAT(second.of_sample, ElementsAre(1, 2));
  EXPECT_TRUE(second.mask.equal(at::tensor({0.f, 1.f, 0.f, 0.f, 0.f, 1.f}).view({2, 3})));
}

TEST(GatesModule, HasTheLayersAndParametersThatTheNetworkLists) {
  for (const char* name : {"cifar_resnet20", "cifar_mobilenet_v2", "resnet18"}) {
    const Network network = with_gates(name, 5);
    Gates gates(network, 1);
    std::int64_t count = 0;
    for (const at::Tensor& p : gates->parameters()) count += p.numel();
    EXPECT_EQ(count, gate_parameters(network)) << name;
    std::set<std::string> listed, built;
    for (const LayerInfo& layer : gate_layers(network)) listed.insert(layer.name);
    for (const LayerInfo& layer : layers_of(*gates)) built.insert("gates." + layer.name);
    EXPECT_EQ(listed, built) << name;
  }
}

}  // namespace
}  // namespace bitcycle
