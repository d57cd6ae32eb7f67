#include "bitcycle/train/step_bench.h"

#include "bitcycle/train/caching_allocator.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

StepBench measured(std::optional<LayerBits> authors) {
  return bench_steps(bench_subject("cifar_resnet8", 8),
                     {.bits = {{3, 3, 8}}, .authors = authors, .warmup = 1, .repeats = 2});
}

TEST(StepBenchTest, TheAuthorsWayIsMeasuredOnlyWhenAsked) {
  use_caching_allocator();
  EXPECT_FALSE(measured({}).authors_step.has_value());
  const StepBench bench = measured(LayerBits{3, 3, 8});
  ASSERT_TRUE(bench.authors_step.has_value());
  EXPECT_EQ(bench.authors_step->milliseconds.size(), 2U);
  EXPECT_GT(bench.authors_step->time.median, 0);
  // Separate operations keep quantized copies beside what autograd keeps of the float network.
  EXPECT_GT(bench.authors_step->activation_bytes, bench.float_step.activation_bytes);
}

}  // namespace
}  // namespace bitcycle
