#include "bitcycle/quant/cross_entropy_function.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Measured {
  at::Tensor loss, gradient;
};

Measured measure(at::ScalarType type, std::optional<std::int64_t> ignored) {
  torch::manual_seed(8);
  at::Tensor scores = (torch::randn({60, 311}) * 5).to(type).requires_grad_();
  const at::Tensor targets = torch::randint(0, 7, {60}, at::kLong);
  const at::Tensor loss = mean_cross_entropy(scores, targets, ignored);
  (loss * 3).backward();
  return {loss.detach(), scores.grad()};
}

// In double it is LibTorch's.
TEST(CrossEntropyFunctionTest, IsLibTorchs) {
  for (const auto ignored : {std::optional<std::int64_t>(), std::optional<std::int64_t>(3)}) {
    const Measured own = measure(at::kFloat, ignored), expected = measure(at::kDouble, ignored);
    EXPECT_NEAR(own.loss.item<double>(), expected.loss.item<double>(), 2e-6);
    EXPECT_LT((own.gradient.to(at::kDouble) - expected.gradient).abs().max().item<double>(), 1e-7);
  }
}

TEST(CrossEntropyFunctionTest, RefusesTargetsThatAreNoClass) {
  const at::Tensor scores = torch::randn({2, 5});
  for (const std::int64_t bad : {-1, 5}) {
    EXPECT_THROW(mean_cross_entropy(scores, torch::tensor({std::int64_t{1}, bad})), c10::Error);
  }
}

}  // namespace
}  // namespace bitcycle
