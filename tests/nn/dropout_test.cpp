#include "bitcycle/nn/dropout.h"

#include "bitcycle/models/step_keys.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

at::Tensor mask_of(StepDropout& dropout) {
  return dropout->forward(at::ones({50, 21}));
}

TEST(StepDropoutTest, IsTheIdentityInEvaluation) {
  StepDropout dropout(0.5);
  dropout->eval();
  EXPECT_TRUE(mask_of(dropout).equal(at::ones({50, 21})));
}

TEST(StepDropoutTest, PassesTheGradientThroughTheSameMask) {
  StepDropout dropout(0.5);
  dropout->set_step_key(RandomKey(3));
  at::Tensor x = torch::randn({50, 21}).requires_grad_();
  const at::Tensor y = dropout->forward(x), error = torch::randn({50, 21});
  y.backward(error);
  dropout->set_step_key(RandomKey(3));
  const at::Tensor mask = mask_of(dropout);
  EXPECT_TRUE(y.equal(x * mask));
  EXPECT_TRUE(x.grad().equal(error * mask));
}

TEST(StepDropoutTest, DrawsAnotherMaskAtEveryCallOfAStep) {
  StepDropout dropout(0.5);
  dropout->set_step_key(RandomKey(3));
  const at::Tensor first = mask_of(dropout), second = mask_of(dropout);
  EXPECT_FALSE(first.equal(second));
  dropout->set_step_key(RandomKey(3));
  EXPECT_TRUE(mask_of(dropout).equal(first));
  EXPECT_TRUE(mask_of(dropout).equal(second));
}

// Other devices and types take the mask along.
TEST(StepDropoutTest, DropsTheSameInDouble) {
  StepDropout dropout(0.3);
  dropout->set_step_key(RandomKey(3));
  const at::Tensor expected = mask_of(dropout).to(at::kDouble);
  dropout->set_step_key(RandomKey(3));
  EXPECT_TRUE(dropout->forward(at::ones({50, 21}, at::kDouble)).equal(expected));
}

TEST(StepDropoutTest, RefusesToDropEverything) {
  EXPECT_THROW(StepDropout(1.0), c10::Error);
}

struct TwoDropouts : torch::nn::Module {
  StepDropout a{register_module("a", StepDropout(0.5))};
  StepDropout b{register_module("b", StepDropout(0.5))};
};

TEST(StepKeysTest, DependOnSeedModuleAndStep) {
  TwoDropouts model;
  const auto masks = [&](std::uint64_t seed, Step step) {
    StepKeys(model, seed).apply(step);
    return at::stack({mask_of(model.a), mask_of(model.b)});
  };
  const at::Tensor expected = masks(1, 5);
  EXPECT_TRUE(masks(1, 5).equal(expected));
  EXPECT_FALSE(expected[0].equal(expected[1]));
  EXPECT_FALSE(masks(2, 5).equal(expected));
  EXPECT_FALSE(masks(1, 6).equal(expected));
}

}  // namespace
}  // namespace bitcycle
