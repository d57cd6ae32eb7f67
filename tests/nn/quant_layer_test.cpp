// A layer that is called several times in a step.

#include "bitcycle/nn/quant_linear.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Running {
  float range, zero;
  std::int64_t steps;
  bool operator==(const Running&) const = default;
};

Running running(QuantLinear& linear) {
  const auto buffers = linear->named_buffers();
  return {buffers["running_range"].item<float>(), buffers["running_zero"].item<float>(),
          buffers["steps_tracked"].item<std::int64_t>()};
}

at::Tensor between(float low, float high) {
  return torch::tensor({low, high}).view({1, 2});
}

using StepInputs = std::vector<at::Tensor>;

Running after(const std::vector<StepInputs>& steps, RangeStart start = RangeStart::first_batch) {
  QuantLinear linear(torch::nn::LinearOptions(2, 3));
  linear->set_range_start(start);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    linear->set_precision({8, 8, 8}, RandomKey(step));
    for (const at::Tensor& x : steps[step]) linear->forward(x);
  }
  return running(linear);
}

TEST(QuantLayerTest, CalledSeveralTimesMovesItsRangeOnceByTheUnion) {
  for (const RangeStart start : {RangeStart::first_batch, RangeStart::zero}) {
    const Running once = after({{between(-1, 2)}, {between(-3, 5)}, {between(0, 1)}}, start);
    const Running often = after({{between(0, 2), between(-1, 1)},
                                 {between(-3, -2), between(-1, 5), between(0, 1)},
                                 {between(0, 1), between(0.25, 0.5)}},
                                start);
    EXPECT_EQ(often, once);
    EXPECT_EQ(often.steps, 3);
  }
}

TEST(QuantLayerTest, MovesItsRangeAsTheEquationSays) {
  const Running moved = after({{between(-1, 2)}, {between(-3, 5), between(-4, 4)}});
  EXPECT_FLOAT_EQ(moved.range, 0.9f * 3 + 0.1f * 9);
  EXPECT_FLOAT_EQ(moved.zero, 0.9f * -1 + 0.1f * -4);
}

// A checkpoint may be written at any time between steps.
TEST(QuantLayerTest, HoldsTheMovedRangeAsSoonAsTheCallsAreMade) {
  const Running before = after({{between(-1, 2), between(-3, 5)}});
  EXPECT_EQ(before, (Running{8, -3, 1}));
}

TEST(QuantLayerTest, DoesNotMoveItsRangeInEvaluation) {
  QuantLinear linear(torch::nn::LinearOptions(2, 3));
  linear->set_precision({8, 8, 8}, RandomKey(1));
  linear->forward(between(-1, 2));
  const Running before = running(linear);
  linear->eval();
  linear->forward(between(-9, 9));
  linear->set_precision({8, 8, 8}, RandomKey(2));
  linear->forward(between(-9, 9));
  EXPECT_EQ(running(linear), before);
}

TEST(QuantLayerTest, HandsOnARangeThatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Running poisoned = after({{between(-1, infinity), between(0, 1)}});
  EXPECT_FALSE(std::isfinite(poisoned.range));
}

}  // namespace
}  // namespace bitcycle
