// The fused passes: each against its definition in double precision, and every instruction set
// against the scalar one, byte for byte.

#include "kernels/integer/passes/pass_cases.h"

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

// The dense codes of a padded buffer; fails when the halo does not hold the zero point.
std::vector<int> dense_codes(const CodeGrid& grid, const std::vector<std::uint8_t>& codes,
                             int zero) {
  std::vector<int> dense;
  for (int n = 0; n < grid.batch; ++n)
    for (int y = 0; y < grid.height + 2 * grid.halo; ++y)
      for (int x = 0; x < grid.width + 2 * grid.halo; ++x)
        for (int c = 0; c < grid.channels; ++c) {
          const int code = codes[static_cast<std::size_t>(
              n * grid.image_bytes() + y * grid.row_bytes() + x * grid.channels + c)];
          const bool inside = y >= grid.halo && x >= grid.halo && y < grid.height + grid.halo &&
                              x < grid.width + grid.halo;
          EXPECT_TRUE(inside || code == zero);
          if (inside) dense.push_back(code);
        }
  return dense;
}

template <typename T>
void expect_definition(const Tensors<T>& t, const Outcome<T>& o, NoiseKey key) {
  const std::vector<int> codes = dense_codes(t.grid, o.codes, o.params.zero_point);
  const std::vector<int> errors = dense_codes(t.grid, o.error_codes, o.error_params.zero_point);
  std::vector<double> sum(t.scale.size()), deviation(t.scale.size());
  float low = 1e30f, high = -1e30f;
  for (std::size_t i = 0; i < t.y.size(); ++i) {
    const std::size_t k = t.channel(i);
    const std::size_t pixel = i / t.scale.size();
    const std::size_t panels = (t.scale.size() + 15) / 16;
    EXPECT_EQ(value_of(o.x[i]), value_of(real<T>(t.activation(i))));
    EXPECT_EQ(o.mask[(pixel * panels + k / 16) * 2 + k % 16 / 8] >> k % 8 & 1, t.activation(i) > 0);
    EXPECT_EQ(codes[i], t.code(i, o.params));
    EXPECT_NEAR(codes[i], std::max(t.normed(i), 0.0f) / o.params.scale + o.params.zero_point,
                0.501);
    EXPECT_EQ(errors[i], t.error_code(i, o.error_params, key));
    EXPECT_NEAR(errors[i], t.error(i) / o.error_params.scale + o.error_params.zero_point, 1.001);
    sum[k] += t.gated(i);
    deviation[k] += double{t.gated(i)} * (double{value_of(t.y[i])} - t.mean[k]);
    low = std::min(low, t.error(i));
    high = std::max(high, t.error(i));
  }
  EXPECT_LE(o.error.low, low + 1e-5f);
  EXPECT_GE(o.error.high, high - 1e-5f);
  for (std::size_t k = 0; k < sum.size(); ++k) {
    EXPECT_NEAR(o.sums.gradient[k], sum[k], 1e-4);
    EXPECT_NEAR(o.sums.deviation[k], deviation[k], 1e-4);
  }
}

template <typename T>
void check_grids() {
  const NoiseKey key{12345, 678};
  omp_set_num_threads(1);
  for (const CodeGrid& grid : kGrids) {
    const Tensors<T> tensors(grid);
    for (const int bits : {2, 5, 8}) {
      const Outcome<T> reference = [&] {
        const ScopedIsa scope(Isa::scalar);
        return Outcome<T>(tensors, bits, key);
      }();
      expect_definition(tensors, reference, key);
      for (const Isa isa : available_isas()) {
        SCOPED_TRACE(name(isa));
        const ScopedIsa scope(isa);
        expect_same(reference, Outcome<T>(tensors, bits, key));
      }
    }
  }
}

TEST(IntegerPasses, FloatTensorsMatchTheirDefinitionOnEverySet) {
  check_grids<float>();
}
TEST(IntegerPasses, HalfTensorsMatchTheirDefinitionOnEverySet) {
  check_grids<Half>();
}

TEST(IntegerPasses, DoNotDependOnTheNumberOfThreads) {
  const Tensors<Half> tensors({7, 6, 5, 16, 1});
  omp_set_num_threads(1);
  const Outcome<Half> one(tensors, 8, {1, 2});
  omp_set_num_threads(3);
  expect_same(one, Outcome<Half>(tensors, 8, {1, 2}));
}

TEST(IntegerPasses, MaskFromTheForwardPassGatesTheGradient) {
  const Tensors<Half> t({2, 4, 4, 20, 1});
  std::vector<Half> x(t.y.size()), g(t.y.size());
  std::vector<std::uint8_t> mask(mask_bytes(t.grid));
  activate(t.grid, t.joined(), x.data(), mask.data());
  gradient_sums(t.grid, {t.gradient.data(), {}, t.y.data(), mask.data(), {}, {}}, t.mean, g.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(value_of(g[i]), t.activation(i) > 0 ? value_of(t.gradient[i]) : 0.0f);
  }
}

// Images 3 and 1 of a larger batch, against the same images on their own.
TEST(IntegerPasses, TakeSomeImagesOfALargerTensorWhereTheyAre) {
  const Tensors<Half> t({4, 3, 5, 20, 1});
  const int rows[] = {3, 1};
  CodeGrid some = t.grid;
  some.batch = 2;
  const auto picked = [&](const std::vector<Half>& from) {
    const std::ptrdiff_t each = std::ssize(from) / 4;
    std::vector<Half> to;
    for (const int row : rows) {
      to.insert(to.end(), from.begin() + row * each, from.begin() + (row + 1) * each);
    }
    return to;
  };
  const auto in_place = [&](const std::vector<Half>& from) {
    RealView view(from.data());
    view.rows = rows;
    return view;
  };
  std::vector<Half> whole(t.y.size()), alone(t.y.size() / 2);
  MutableReal to(whole.data());
  to.rows = rows;
  ActivationSource source = t.joined();
  source.y = in_place(t.y);
  source.residual = in_place(t.residual);
  std::vector<Range> ranges(2);
  const Range all = activate(some, source, to, nullptr, ranges);
  const std::vector<Half> y = picked(t.y), residual = picked(t.residual);
  source.y = y.data();
  source.residual = residual.data();
  const Range expected = activate(some, source, alone.data(), nullptr);
  const std::vector<Half> found = picked(whole);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(found[i].bits, alone[i].bits) << i;
  EXPECT_EQ(all.high, expected.high);
  const std::size_t each = alone.size() / 2;
  for (std::size_t n = 0; n < 2; ++n) {
    float high = 0;
    for (std::size_t i = 0; i < each; ++i) high = std::max(high, value_of(alone[n * each + i]));
    EXPECT_EQ(ranges[n].high, high);
  }
  const Range both = merged(ranges);
  EXPECT_EQ(both.high, std::max(ranges[0].high, ranges[1].high));
  EXPECT_EQ(both.low, std::min(ranges[0].low, ranges[1].low));
}

TEST(IntegerPasses, RangeFromStatisticsEqualsRangeFromTheTensor) {
  const Tensors<Half> t({2, 4, 6, 24, 1});
  const ChannelStats stats = t.stats();
  for (const Rectify activation : {Rectify::none, Rectify::relu}) {
    const ActivationSource source{t.y.data(), {}, t.scale, t.shift, activation};
    const Range want = activate(t.grid, source, {}, nullptr);
    const Range found = activation_range(stats, source);
    EXPECT_EQ(want.low, found.low);
    EXPECT_EQ(want.high, found.high);
  }
}

// In batch norm's backward pass b * y + c is small beside a * g; then the bounds are nearly the
// range.
TEST(IntegerPasses, ErrorBoundsAreCloseToTheErrorsOfABatchNorm) {
  Tensors<float> t({64, 8, 8, 16, 0});
  const GradientSource source{t.gradient.data(), {}, t.y.data(), nullptr, t.scale, t.shift};
  const GradientSums sums = gradient_sums(t.grid, source, t.mean, {});
  const std::int64_t count = t.grid.elements() / 16;
  ChannelStats stats = t.stats();
  stats.sum.assign(16, 0.0);
  stats.sum_of_squares.assign(16, static_cast<double>(count));
  const BatchNorm norm = batch_norm_forward(stats, count, t.scale, t.shift, 1e-5);
  const BatchNormGradient d = batch_norm_backward(norm, sums, count, {});
  const Range bounds = error_bounds(sums, stats, {source, d.a, d.b, d.c});
  Range exact{1e30f, -1e30f};
  for (std::size_t i = 0; i < t.y.size(); ++i) {
    const std::size_t k = t.channel(i);
    const float g = t.normed(i) > 0.0f ? t.gradient[i] : 0.0f;
    const float e = d.a[k] * g + (d.b[k] * t.y[i] + d.c[k]);
    exact = {std::min(exact.low, e), std::max(exact.high, e)};
  }
  EXPECT_LE(bounds.low, exact.low + 1e-5f);
  EXPECT_GE(bounds.high, exact.high - 1e-5f);
  EXPECT_LT(bounds.high - bounds.low, 1.1f * (exact.high - exact.low));
}

TEST(IntegerPasses, StochasticRoundingIsUnbiased) {
  const CodeGrid grid{64, 16, 16, 16, 0};
  const std::vector<float> values(static_cast<std::size_t>(grid.elements()), 0.3f);
  const std::vector<float> ones(16, 1.0f);
  std::vector<std::uint8_t> codes(grid.bytes());
  const CodeParams params = code_params({-1.0f, 6.0f}, 3);
  const ErrorSource errors{{values.data(), {}, {}, nullptr, {}, {}}, ones, {}, {}};
  make_all(grid, ErrorCodes(grid, errors, params, {7, 8}), codes.data());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(codes[i] == params.zero_point || codes[i] == params.zero_point + 1);
    sum += params.scale * (codes[i] - params.zero_point);
  }
  // Standard error of the mean: sqrt(0.3 * 0.7 / n).
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0.3, 4 * std::sqrt(0.21 / n));
}

TEST(IntegerPasses, BatchNormGradientMatchesFiniteDifferences) {
  const CodeGrid grid{4, 3, 3, 2, 0};
  const std::vector<float> y = normals<float>(grid.elements(), RandomKey(11));
  const std::vector<float> g = normals<float>(grid.elements(), RandomKey(12));
  const std::vector<float> gamma{1.5f, -0.5f}, beta{0.1f, 0.2f};
  const std::int64_t count = grid.elements() / 2;
  const auto norm_of = [&](const std::vector<double>& values) {
    ChannelStats stats;
    stats.sum.assign(2, 0);
    stats.sum_of_squares.assign(2, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      stats.sum[i % 2] += values[i];
      stats.sum_of_squares[i % 2] += values[i] * values[i];
    }
    return batch_norm_forward(stats, count, gamma, beta, 1e-5);
  };
  const auto loss = [&](const std::vector<double>& values) {
    const BatchNorm norm = norm_of(values);
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double xhat = (values[i] - norm.mean[i % 2]) * norm.inverse_deviation[i % 2];
      total += g[i] * (gamma[i % 2] * xhat + beta[i % 2]);
    }
    return total;
  };
  std::vector<double> values(y.begin(), y.end());
  const BatchNorm norm = norm_of(values);
  const GradientSums sums =
      gradient_sums(grid, {g.data(), {}, y.data(), nullptr, {}, {}}, norm.mean, {});
  const BatchNormGradient d = batch_norm_backward(norm, sums, count, {});
  for (std::size_t i = 0; i < 8; ++i) {
    const double step = 1e-2;
    std::vector<double> up = values, down = values;
    up[i] += step;
    down[i] -= step;
    const double want = (loss(up) - loss(down)) / (2 * step);
    EXPECT_NEAR(d.a[i % 2] * g[i] + (d.b[i % 2] * y[i] + d.c[i % 2]), want, 2e-3);
  }
}

TEST(IntegerPasses, CodeParamsCoverTheRangeAndZero) {
  for (const int bits : {2, 3, 8}) {
    for (const Range range : {Range{0, 3}, {-1, 2}, {-5, -1}, {2, 7}, {0, 0}, {-1e-42f, 1e-42f}}) {
      const CodeParams p = code_params(range, bits);
      EXPECT_GE(p.zero_point, 0);
      EXPECT_LE(p.zero_point, p.largest_code());
      EXPECT_TRUE(std::isfinite(p.inverse_scale));
      const float low = p.scale * static_cast<float>(-p.zero_point);
      const float high = p.scale * static_cast<float>(p.largest_code() - p.zero_point);
      EXPECT_LE(low, std::min(range.low, 0.0f) + p.scale * 0.51f);
      EXPECT_GE(high, std::max(range.high, 0.0f) - p.scale * 0.51f);
    }
  }
}

TEST(Half, ConvertsEveryHalfThereAndBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    const float value = to_float(h);
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_half(value).bits, bits);
  }
  EXPECT_EQ(to_half(65520.0f).bits, 0x7c00);  // rounds to infinity
  EXPECT_EQ(to_half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(to_half(1.0f + 0x1p-11f).bits, 0x3c00);  // tie to even
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f).bits, 0x3c02);
  EXPECT_EQ(to_half(0x1p-25f).bits, 0);  // tie to zero
  EXPECT_EQ(to_half(0x1.8p-25f).bits, 1);
}

}  // namespace
}  // namespace bitcycle::integer
