#include "bitcycle/kernels/cross_entropy.h"

#include "kernels/elementwise.h"
#include "kernels/random_values.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

constexpr std::int64_t kRows = 3, kClasses = 1003;

std::vector<float> scores() {
  auto values = random_values(kRows * kClasses, 1);
  for (float& value : values) value *= 8.0f;
  return values;
}

double log_sum(const std::vector<float>& x, std::int64_t row) {
  double sum = 0;
  for (std::int64_t c = 0; c < kClasses; ++c) sum += std::exp(double{x[row * kClasses + c]});
  return std::log(sum);
}

TEST(CrossEntropyTest, FollowsTheEquationsInDouble) {
  const auto x = scores();
  std::vector<float> sums(kRows), gradient(x.size());
  log_sums({x.data(), kRows, kClasses}, sums);
  const std::vector<std::int64_t> targets = {0, 17, 1002};
  const std::vector<float> weights = {0.5f, 0.0f, 2.0f};
  cross_entropy_gradient({x.data(), kRows, kClasses}, sums, targets, weights, gradient.data());
  for (std::int64_t r = 0; r < kRows; ++r) {
    EXPECT_NEAR(sums[r], log_sum(x, r), 2e-6);
    for (std::int64_t c = 0; c < kClasses; ++c) {
      const double chance = std::exp(x[r * kClasses + c] - log_sum(x, r));
      EXPECT_NEAR(gradient[r * kClasses + c], weights[r] * (chance - (c == targets[r] ? 1 : 0)),
                  5e-6);
    }
  }
}

TEST(CrossEntropyTest, PassesOnWhatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = scores(), sums(kRows);
    x[kClasses + 5] = bad;
    log_sums({x.data(), kRows, kClasses}, sums);
    EXPECT_TRUE(std::isfinite(sums[0]));
    EXPECT_FALSE(std::isfinite(sums[1]));
  }
}

TEST(CrossEntropyTest, GivesTheSameOnEveryInstructionSet) {
  const auto x = scores();
  const auto run = [&](Isa isa) {
    std::vector<float> out(x.size() + 1);
    elementwise_kernels(isa).exp_scaled(x.data(), kRows * kClasses, 3.0f, 0.25f, out.data());
    out.back() = elementwise_kernels(isa).exp_sum(x.data(), kRows * kClasses, 20.0f);
    return out;
  };
  for (const Isa isa : available_isas()) EXPECT_EQ(run(isa), run(Isa::scalar)) << name(isa);
}

}  // namespace
}  // namespace bitcycle
