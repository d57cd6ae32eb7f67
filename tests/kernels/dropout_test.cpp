#include "bitcycle/kernels/dropout.h"

#include "kernels/elementwise.h"
#include "kernels/random_values.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::vector<float> dropped(const std::vector<float>& x, double probability, NoiseKey key) {
  std::vector<float> out(x.size());
  drop_out(x, drop_rate(probability), key, 0, out);
  return out;
}

TEST(DropoutTest, DropsByEachElementsOwnBits) {
  const auto x = random_values(40001, 3);
  const NoiseKey key{17, 23};
  const auto out = dropped(x, 0.25, key);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(out[i], noise_bits(key, i) < 16384 ? 0.0f : x[i] * (65536.0f / 49152.0f));
  }
}

TEST(DropoutTest, DropsTheFractionThatIsAskedForAndKeepsTheMean) {
  const std::vector<float> ones(1000000, 1.0f);
  for (const double probability : {0.1, 0.5, 0.9}) {
    const auto out = dropped(ones, probability, noise_key(RandomKey(1)));
    const auto zeros = static_cast<double>(std::count(out.begin(), out.end(), 0.0f));
    EXPECT_NEAR(zeros / 1e6, probability, 2e-3);
    const DropRate rate = drop_rate(probability);
    EXPECT_FLOAT_EQ(rate.scale * (65536 - rate.threshold), 65536);
  }
}

TEST(DropoutTest, OfProbabilityZeroIsTheIdentity) {
  const auto x = random_values(1000, 3);
  EXPECT_EQ(dropped(x, 0.0, {1, 2}), x);
}

TEST(DropoutTest, GivesTheSameOnEveryInstructionSet) {
  const auto x = random_values(1003, 5);
  const auto drop = [&](Isa isa) {
    std::vector<float> out(x.size());
    elementwise_kernels(isa).drop_out(x.data(), 1003, drop_rate(0.3), {7, 9}, 64, out.data());
    return out;
  };
  for (const Isa isa : available_isas()) EXPECT_EQ(drop(isa), drop(Isa::scalar)) << name(isa);
}

}  // namespace
}  // namespace bitcycle
