#include "bitcycle/kernels/sum_of_squares.h"

#include "kernels/random_values.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>

namespace bitcycle {
namespace {

// Whole numbers, whose sums are exact in any order: 1 + 4 + ... + n^2 = n (n + 1) (2n + 1) / 6.
TEST(SumOfSquares, CountsEveryElementOnceAtEveryLength) {
  std::vector<float> x;
  for (int n = 1; n <= 40; ++n) {
    x.push_back(static_cast<float>(n % 2 == 0 ? n : -n));
    EXPECT_EQ(sum_of_squares(x), n * (n + 1) * (2 * n + 1) / 6.0) << n;
  }
  EXPECT_EQ(sum_of_squares({}), 0);
  EXPECT_EQ(sum_of_squares(std::vector<float>(300'001, 2.0f)), 4 * 300'001.0);
}

TEST(SumOfSquares, IsTheSameToTheBitWhateverTheNumberOfThreads) {
  const std::vector<float> x = random_values(500'003, 1);
  omp_set_num_threads(1);
  const double alone = sum_of_squares(x);
  for (const int threads : {2, 3, 7}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(sum_of_squares(x), alone) << threads;
  }
  EXPECT_NEAR(alone / static_cast<double>(x.size()), 1, 0.01);
}

TEST(SumOfSquares, IsFiniteExactlyWhenEveryValueIs) {
  std::vector<float> x(100'000, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isfinite(sum_of_squares(x)));
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    x[70'000] = bad;
    EXPECT_FALSE(std::isfinite(sum_of_squares(x)));
  }
}

}  // namespace
}  // namespace bitcycle
