// Errors quantized to more than 8 bits: the two planes are those of the code by definition.

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/passes/pass_cases.h"

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

std::vector<std::uint8_t> wide_codes(const CodeGrid& grid, const CodeMaker& maker) {
  std::vector<std::uint8_t> codes(wide_bytes(grid), 0xcd);
  make_all_wide(grid, maker, codes.data());
  return codes;
}

// Calls use(element, offset of its code), or use(-1, offset) in the halo.
template <typename Use>
void each_code(const CodeGrid& grid, Use use) {
  std::ptrdiff_t at = 0;
  std::int64_t element = 0;
  for (int n = 0; n < grid.batch; ++n)
    for (int y = -grid.halo; y < grid.height + grid.halo; ++y)
      for (int x = -grid.halo; x < grid.width + grid.halo; ++x)
        for (int c = 0; c < grid.channels; ++c, ++at) {
          const bool inside = y >= 0 && x >= 0 && y < grid.height && x < grid.width;
          use(inside ? element++ : -1, static_cast<std::size_t>(at));
        }
}

template <typename T>
void expect_planes(int bits) {
  const NoiseKey key{5, 6};
  for (const CodeGrid& grid : kGrids) {
    const Tensors<T> t(grid);
    const auto sums = gradient_sums(grid, t.errors().source, t.mean, {});
    // Half the range, so that codes are clamped at both ends.
    Range range = error_bounds(sums, t.stats(), t.errors());
    range = {range.low / 2, range.high / 2};
    const CodeParams params = code_params(range, bits);
    const auto low = static_cast<std::size_t>(grid.image_bytes() * grid.batch);
    for (const Isa isa : available_isas()) {
      const ScopedIsa scope(isa);
      const auto codes = wide_codes(grid, ErrorCodes(grid, t.errors(), params, key));
      std::size_t wrong = 0;
      each_code(grid, [&](std::int64_t element, std::size_t at) {
        const int want = element < 0 ? params.zero_point
                                     : t.error_code(static_cast<std::size_t>(element), params, key);
        wrong += codes[at] != want >> (bits / 2);
        wrong += codes[low + at] != want % (1 << (bits / 2));
      });
      EXPECT_EQ(wrong, 0U) << bits << " bits, " << name(isa);
    }
  }
}

TEST(WideErrorCodes, PlanesMakeUpTheCodeOnEverySet) {
  omp_set_num_threads(2);
  for (int bits = 9; bits <= 16; ++bits) {
    expect_planes<float>(bits);
    expect_planes<Half>(bits);
  }
}

TEST(WideErrorCodes, ParametersOfThePlanesMakeUpThoseOfTheCode) {
  for (int bits = 9; bits <= 16; ++bits) {
    for (const int zero : {0, 1, 200, (1 << bits) - 1}) {
      const CodeParams params{.scale = 0.3f, .zero_point = zero, .bits = bits};
      const auto planes = planes_of(params);
      ASSERT_EQ(planes.size(), 2U);
      const CodePlane &high = planes[0], &low = planes[1];
      EXPECT_EQ(high.worth * high.params.zero_point + low.params.zero_point, zero);
      EXPECT_EQ(high.worth * high.params.largest_code() + low.params.largest_code(),
                params.largest_code());
      EXPECT_EQ(high.params.scale, static_cast<float>(high.worth) * params.scale);
      EXPECT_EQ(low.params.scale, params.scale);
      EXPECT_LE(high.params.bits, kMaxBits);
      EXPECT_GE(low.params.bits, kMinBits);
    }
  }
}

// Floats near 2^16 have 8 places behind the point, so of the noise of 16 bits half is rounded away,
// to nearest: what is left must not lean to a side.
TEST(WideErrorCodes, StochasticRoundingIsUnbiasedAtSixteenBits) {
  const CodeGrid grid{.batch = 1, .height = 256, .width = 256, .channels = 16};
  for (const float code : {60000.3f, 40000.75f, 300.1f}) {
    const std::vector<float> gradient(static_cast<std::size_t>(grid.elements()), code);
    const std::vector<float> ones(16, 1.0f);
    const CodeParams params{.scale = 1, .inverse_scale = 1, .zero_point = 0, .bits = 16};
    const ErrorSource source{.source = {.gradient = gradient.data()}, .a = ones};
    const auto codes = wide_codes(grid, ErrorCodes(grid, source, params, {7, 8}));
    double sum = 0;
    const std::size_t count = gradient.size();
    for (std::size_t i = 0; i < count; ++i) sum += 256.0 * codes[i] + codes[count + i];
    // Four deviations of the mean of a coin, and a place of the float.
    const double bound = 4 * 0.5 / std::sqrt(static_cast<double>(count)) + 1.0 / 512;
    EXPECT_NEAR(sum / static_cast<double>(count), code, bound);
  }
}

}  // namespace
}  // namespace bitcycle::integer
