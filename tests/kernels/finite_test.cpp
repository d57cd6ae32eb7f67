#include "bitcycle/kernels/finite.h"

#include "kernels/elementwise.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Finite, FindsOneValueAnywhereAtEveryLengthAndOnEverySet) {
  for (const Isa isa : available_isas()) {
    const auto& kernels = elementwise_kernels(isa);
    for (std::int64_t count = 1; count <= 67; ++count) {
      std::vector<float> x(static_cast<std::size_t>(count), -3.4e38f);  // the largest are finite
      EXPECT_TRUE(kernels.finite(x.data(), count));
      for (float& value : x) {
        for (const float bad : {kNaN, kInfinity, -kInfinity}) {
          const float good = std::exchange(value, bad);
          EXPECT_FALSE(kernels.finite(x.data(), count)) << name(isa) << " " << count;
          value = good;
        }
      }
    }
  }
}

TEST(Finite, LooksAtAllBlocksOfLargeTensors) {
  std::vector<float> x(200'000, 1.0f);
  EXPECT_TRUE(all_finite(x));
  EXPECT_TRUE(all_finite({}));
  for (const std::size_t at : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
    x[at] = kNaN;
    EXPECT_FALSE(all_finite(x));
    x[at] = 1.0f;
  }
}

}  // namespace
}  // namespace bitcycle
