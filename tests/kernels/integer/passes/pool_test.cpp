#include "bitcycle/kernels/integer/pool.h"

#include "bitcycle/base/random.h"

#include "kernels/integer/isa/microkernels.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <omp.h>

namespace bitcycle::integer {
namespace {

std::vector<float> normals(std::int64_t count, RandomKey key) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(key.normal(static_cast<std::uint64_t>(i))));
  }
  return values;
}

class IntegerPool : public ::testing::TestWithParam<Isa> {
 protected:
  IntegerPool() : scope_(GetParam()) { omp_set_num_threads(1); }
  ScopedIsa scope_;
};

TEST_P(IntegerPool, MeanAndItsGradient) {
  const CodeGrid grid{2, 3, 5, 20, 0};
  const std::vector<float> x = normals(grid.elements(), RandomKey(1));
  std::vector<float> mean(40), back(x.size());
  mean_pool(grid, x.data(), mean.data());
  mean_pool_backward(grid, mean.data(), back.data());
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t c = 0; c < 20; ++c) {
      double sum = 0;
      for (std::size_t p = 0; p < 15; ++p) sum += x[(n * 15 + p) * 20 + c];
      EXPECT_NEAR(mean[n * 20 + c], sum / 15, 1e-6);
      EXPECT_NEAR(back[(n * 15 + 7) * 20 + c], mean[n * 20 + c] / 15, 1e-7);
    }
  }
}

TEST_P(IntegerPool, MaximumGoesToTheFirstOfTheWindowAndItsGradientBack) {
  const MaxPool shape{{1, 7, 6, 18, 0}, 3, 2, 1};
  const CodeGrid out = shape.output();
  EXPECT_EQ(out.height, 4);
  EXPECT_EQ(out.width, 3);
  std::vector<float> x = normals(shape.input.elements(), RandomKey(2));
  for (float& v : x) v = std::round(v);  // ties
  const std::vector<float> g = normals(out.elements(), RandomKey(3));
  std::vector<float> y(g.size()), dx(x.size()), want(x.size());
  std::vector<std::uint8_t> taps(g.size());
  max_pool(shape, x.data(), y.data(), taps.data());
  max_pool_backward(shape, g.data(), taps.data(), dx.data());
  std::size_t i = 0;
  for (int oy = 0; oy < out.height; ++oy)
    for (int ox = 0; ox < out.width; ++ox)
      for (int c = 0; c < 18; ++c, ++i) {
        std::ptrdiff_t best = -1;
        for (int iy = 2 * oy - 1; iy <= 2 * oy + 1; ++iy)
          for (int ix = 2 * ox - 1; ix <= 2 * ox + 1; ++ix) {
            if (iy < 0 || ix < 0 || iy >= 7 || ix >= 6) continue;
            const std::ptrdiff_t at = (std::ptrdiff_t{iy} * 6 + ix) * 18 + c;
            if (best < 0 || x[static_cast<std::size_t>(at)] > x[static_cast<std::size_t>(best)])
              best = at;
          }
        EXPECT_EQ(y[i], x[static_cast<std::size_t>(best)]);
        want[static_cast<std::size_t>(best)] += g[i];
      }
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(dx[k], want[k], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sets, IntegerPool, ::testing::ValuesIn(available_isas()),
                         [](const auto& set) { return std::string(name(set.param)); });

}  // namespace
}  // namespace bitcycle::integer
