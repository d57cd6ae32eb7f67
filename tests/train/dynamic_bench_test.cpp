#include "bitcycle/train/dynamic_bench.h"

#include "bitcycle/train/caching_allocator.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

// Note [Made again]. The float stem is what is left, and weighs more in smaller networks (11 % in
// ResNet-20).
TEST(DynamicBenchTest, TheOptionToSkipTakesNoMoreMemoryThanTenPercent) {
  use_caching_allocator();
  DynamicRecipe precision;
  precision.options = {{3, 6}, {6, 8}};
  precision.weight = 4;
  precision.target = {3.0};
  const DynamicBench bench = bench_dynamic({.model = "cifar_resnet38",
                                            .batch = 16,
                                            .precision = precision,
                                            .skipped = {0.0, 0.5},
                                            .warmup = 1,
                                            .repeats = 1});
  const auto of_static = [&](const MeasuredStep& step) {
    return static_cast<double>(step.activation_bytes) /
           static_cast<double>(bench.static_step.activation_bytes);
  };
  EXPECT_LT(of_static(bench.dynamic), 1.1);
  EXPECT_LT(of_static(bench.skipping[0]), 1.1);
  EXPECT_LT(of_static(bench.skipping[1]), 1.0);
}

}  // namespace
}  // namespace bitcycle
