// Nested codes, option products and gradients per channel: each set against scalar definitions.

#include "kernels/integer/passes/option_cases.h"

#include <omp.h>

namespace bitcycle::integer {
namespace {

using namespace testing;

const Range kRanges[] = {{0.0f, 3.0f}, {-1.0f, 2.0f}, {-5.0f, 0.0f}};

TEST(NestedCodes, FollowTheirDefinitionOnEverySet) {
  omp_set_num_threads(1);
  for (const CodeGrid& grid : kGrids) {
    for (const Range& range : kRanges) {
      const OptionOperands<float> o(grid, range, false);
      for (const Isa isa : available_isas()) {
        const ScopedIsa scope(isa);
        const OptionOutcome found(o);
        for (std::size_t k = 0; k < o.options.size(); ++k) {
          for (std::size_t i = 0; i < found.codes[k].size(); ++i) {
            ASSERT_EQ(found.codes[k][i], nested_code(o.codes.padded[i], o.finest, o.options[k]))
                << name(isa) << ", " << o.options[k].bits << " bits";
          }
        }
      }
    }
  }
}

// The last codes do not fill a register.
TEST(NestedCodes, OfEveryCodeFromZeroOnAreTheNearest) {
  const CodeGrid grid{1, 1, 256 + 21, 1, 0};
  std::vector<std::uint8_t> all(grid.bytes());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  const CopiedCodes finest(grid, all);
  for (const Isa isa : available_isas()) {
    const ScopedIsa scope(isa);
    for (const CodeParams& params : option_params({0.0f, 1.0f})) {
      std::vector<std::uint8_t> codes(grid.bytes());
      NestedCodes(grid, finest, code_params({0.0f, 1.0f}, 8), params).make(0, codes.data());
      for (int i = 0; i < grid.width; ++i) {
        const int nearest = (2 * (i % 256) * params.largest_code() + 255) / 510;
        ASSERT_EQ(codes[static_cast<std::size_t>(i)], nearest) << name(isa) << ", " << params.bits;
      }
    }
  }
}

TEST(NestedCodes, KeepEightBitsAndTheHalo) {
  const CodeGrid grid{2, 3, 4, 5, 2};
  const OptionOperands<float> o(grid, {-1.0f, 2.0f}, false);
  const OptionOutcome found(o);
  for (std::size_t k = 0; k < o.options.size(); ++k) {
    EXPECT_EQ(found.codes[k].front(), o.options[k].zero_point);
    if (o.options[k].bits != 8) continue;
    EXPECT_TRUE(std::equal(found.codes[k].begin(), found.codes[k].end(), o.codes.padded.begin()));
  }
}

// Rounding twice costs half a step of the finer grid, and zero points of their own move the ends.
TEST(NestedCodes, StandForValuesNearTheFinestOnes) {
  for (const Range& range : kRanges) {
    const CodeParams finest = code_params(range, 8);
    for (const CodeParams& params : option_params(range)) {
      for (int q8 = 0; q8 < 256; ++q8) {
        const float value = finest.scale * static_cast<float>(q8 - finest.zero_point);
        const int code = nested_code(q8, finest, params);
        EXPECT_NEAR(params.scale * static_cast<float>(code - params.zero_point), value,
                    0.5f * params.scale + 0.5f * (params.scale + finest.scale) + 1e-5f);
      }
    }
  }
}

TEST(NestedCodes, OverStoringCodesOnePassGivesBoth) {
  const CodeGrid grid{3, 5, 6, 20, 1};
  const OptionOperands<float> o(grid, {-1.0f, 2.0f}, false);
  const CopiedCodes finest(grid, o.codes.padded);
  std::vector<std::uint8_t> stored(stored_bytes(grid, 8)), codes(grid.bytes()), loaded(codes);
  const StoringCodes storing(grid, o.finest, finest, stored.data());
  make_all(grid, NestedCodes(grid, storing, o.finest, o.options[1]), codes.data());
  EXPECT_EQ(std::vector<std::uint16_t>(stored.begin(), stored.end()), o.codes.dense);
  const StoredCodes again(grid, o.finest, stored.data());
  make_all(grid, NestedCodes(grid, again, o.finest, o.options[1]), loaded.data());
  EXPECT_EQ(codes, loaded);
}

// [image][option], in integers.
template <typename T>
std::vector<float> defined_products(const OptionOperands<T>& o) {
  std::vector<float> products;
  const std::int64_t each = o.grid.elements() / o.grid.batch;
  for (int n = 0; n < o.grid.batch; ++n) {
    for (const CodeParams& params : o.options) {
      std::int64_t sum = 0;
      for (std::int64_t i = n * each; i < (n + 1) * each; ++i) {
        const auto at = static_cast<std::size_t>(i);
        sum += static_cast<std::int64_t>(value_of(o.gradient[at])) *
               (nested_code(o.codes.dense[at], o.finest, params) - params.zero_point);
      }
      products.push_back(static_cast<float>(static_cast<double>(sum) * double{params.scale}));
    }
  }
  return products;
}

template <typename T>
void check_products() {
  omp_set_num_threads(1);
  for (const CodeGrid& grid : kGrids) {
    for (const Range& range : kRanges) {
      const OptionOperands<T> whole(grid, range, true), reals(grid, range, false);
      const ScopedIsa scope(Isa::scalar);
      const OptionOutcome reference(reals);
      for (const Isa isa : available_isas()) {
        const ScopedIsa own(isa);
        EXPECT_EQ(OptionOutcome(whole).products, defined_products(whole)) << name(isa);
        EXPECT_EQ(OptionOutcome(reals), reference) << name(isa);
      }
    }
  }
}

TEST(OptionProducts, OfFloatsFollowTheirDefinitionOnEverySet) {
  check_products<float>();
}
TEST(OptionProducts, OfHalvesFollowTheirDefinitionOnEverySet) {
  check_products<Half>();
}

TEST(OptionProducts, AreCloseToSumsInDoublePrecision) {
  const OptionOperands<Half> o({2, 16, 16, 24, 1}, {-1.0f, 2.0f}, false);
  const OptionOutcome found(o);
  const std::int64_t each = o.grid.elements() / o.grid.batch;
  for (std::size_t p = 0; p < found.products.size(); ++p) {
    const CodeParams& params = o.options[p % o.options.size()];
    double sum = 0, magnitude = 0;
    for (std::int64_t i = 0; i < each; ++i) {
      const auto at = p / o.options.size() * static_cast<std::size_t>(each) + std::size_t(i);
      const double term = double{value_of(o.gradient[at])} * double{params.scale} *
                          (nested_code(o.codes.dense[at], o.finest, params) - params.zero_point);
      sum += term;
      magnitude += std::abs(term);
    }
    EXPECT_NEAR(found.products[p], sum, 1e-6 * magnitude);
  }
}

TEST(OptionProducts, DoNotDependOnTheNumberOfThreads) {
  const OptionOperands<Half> o({7, 6, 5, 19, 1}, {-1.0f, 2.0f}, false);
  omp_set_num_threads(1);
  const OptionOutcome one(o);
  for (const int count : {2, 3}) {
    omp_set_num_threads(count);
    EXPECT_EQ(OptionOutcome(o), one);
  }
}

// Multiples of a quarter add up exactly, in halves too.
template <typename T>
void check_added_gradient() {
  omp_set_num_threads(1);
  for (const CodeGrid& grid : kGrids) {
    Tensors<T> t(grid);
    const std::vector<float> added = AddedGradient<T>::values(grid);
    const std::size_t image = t.y.size() / static_cast<std::size_t>(grid.batch);
    std::vector<T> total(t.y.size());
    for (std::size_t i = 0; i < total.size(); ++i) {
      for (auto* part : {&t.gradient, &t.residual}) {
        (*part)[i] = real<T>(std::nearbyint(4 * value_of((*part)[i])) / 4);
      }
      const float more = added[i / image * t.scale.size() + t.channel(i)];
      total[i] = real<T>(value_of(t.gradient[i]) + value_of(t.residual[i]) + more);
    }
    const GradientSource apart{t.gradient.data(), t.residual.data(), t.y.data(), nullptr,
                               t.scale,           t.shift,           added};
    const GradientSource joined{total.data(), {}, t.y.data(), nullptr, t.scale, t.shift};
    for (const Isa isa : available_isas()) {
      SCOPED_TRACE(name(isa));
      const ScopedIsa scope(isa);
      expect_same(AddedGradient<T>(t, apart), AddedGradient<T>(t, joined));
    }
  }
}

TEST(GradientPerChannel, OfFloatsIsAddedToEveryPixel) {
  check_added_gradient<float>();
}
TEST(GradientPerChannel, OfHalvesIsAddedToEveryPixel) {
  check_added_gradient<Half>();
}

}  // namespace
}  // namespace bitcycle::integer
