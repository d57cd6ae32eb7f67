#include "bitcycle/quant/layer_norm_function.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Normed {
  at::Tensor y, dx, dweight, dbias;
};

template <typename Norm>
Normed normed(const Norm& norm, at::ScalarType type) {
  torch::manual_seed(4);
  at::Tensor x = torch::randn({7, 41, 30}).to(type).requires_grad_();
  at::Tensor weight = torch::randn({30}).to(type).requires_grad_();
  at::Tensor bias = torch::randn({30}).to(type).requires_grad_();
  const at::Tensor y = norm(x, weight, bias);
  y.backward(torch::randn({7, 41, 30}).to(type));
  return {y.detach(), x.grad(), weight.grad(), bias.grad()};
}

TEST(LayerNormTest, IsLibTorchs) {
  const auto own = [](const auto& x, const auto& w, const auto& b) {
    return layer_norm(x, w, b, 1e-5);
  };
  const Normed actual = normed(own, at::kFloat);
  const Normed expected = normed([](const auto& x, const auto& w,
                                    const auto& b) { return at::layer_norm(x, {30}, w, b, 1e-5); },
                                 at::kDouble);
  const auto near = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) - b).abs().max().template item<double>() < 2e-5;
  };
  EXPECT_TRUE(near(actual.y, expected.y));
  EXPECT_TRUE(near(actual.dx, expected.dx));
  EXPECT_TRUE(near(actual.dweight, expected.dweight));
  EXPECT_TRUE(near(actual.dbias, expected.dbias));
}

TEST(LayerNormTest, DoesNotDependOnTheNumberOfThreads) {
  const int before = at::get_num_threads();
  const auto run = [](int threads) {
    at::set_num_threads(threads);
    return normed(
        [](const auto& x, const auto& w, const auto& b) { return layer_norm(x, w, b, 1e-5); },
        at::kFloat);
  };
  const Normed one = run(1), five = run(5);
  at::set_num_threads(before);
  EXPECT_TRUE(one.y.equal(five.y));
  EXPECT_TRUE(one.dx.equal(five.dx));
  EXPECT_TRUE(one.dweight.equal(five.dweight));
  EXPECT_TRUE(one.dbias.equal(five.dbias));
}

}  // namespace
}  // namespace bitcycle
