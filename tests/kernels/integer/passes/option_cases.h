#pragma once

// What is made from 8-bit codes for the options of a gate, and the scalar definitions of it.

#include "bitcycle/kernels/integer/option_products.h"
#include "bitcycle/kernels/integer/stored_codes.h"

#include "kernels/integer/oracle.h"
#include "kernels/integer/passes/pass_cases.h"

namespace bitcycle::integer::testing {

// The tail of the list repeats itself.
inline std::vector<CodeParams> option_params(Range range) {
  std::vector<CodeParams> options;
  for (const int bits : {2, 3, 8, 4, 6, 5, 7, 3, 8}) options.push_back(code_params(range, bits));
  return options;
}

inline int nested_code(int q8, const CodeParams& finest, const CodeParams& params) {
  const float code = std::fma(static_cast<float>(q8 - finest.zero_point),
                              finest.scale / params.scale, static_cast<float>(params.zero_point));
  return std::clamp(static_cast<int>(std::nearbyint(code)), 0, params.largest_code());
}

// Gradients of small whole numbers make every sum exact, in any order.
template <typename T>
struct OptionOperands {
  CodeGrid grid;
  CodeParams finest;
  std::vector<CodeParams> options;
  TestCodes codes;
  std::vector<T> gradient;

  OptionOperands(const CodeGrid& g, Range range, bool whole)
      : grid(g),
        finest(code_params(range, 8)),
        options(option_params(range)),
        codes(g, 8, finest.zero_point, Pattern::random, RandomKey(31)),
        gradient(normals<T>(g.elements(), RandomKey(32))) {
    for (T& value : gradient) {
      if (whole) value = real<T>(std::nearbyint(4 * value_of(value)));
    }
  }
};

struct OptionOutcome {
  std::vector<std::vector<std::uint8_t>> codes;  // of each option, without slack
  std::vector<float> products;

  template <typename T>
  explicit OptionOutcome(const OptionOperands<T>& o) {
    const CopiedCodes finest(o.grid, o.codes.padded);
    for (const CodeParams& params : o.options) {
      codes.emplace_back(o.grid.bytes());
      make_all(o.grid, NestedCodes(o.grid, finest, o.finest, params), codes.back().data());
      codes.back().resize(o.grid.bytes() - kCodeSlack);
    }
    OptionProducts pass(o.grid, o.gradient.data(), o.finest, o.options);
    std::vector<std::uint8_t> weighed(o.grid.bytes());
    make_all(o.grid, WeighingCodes(finest, pass), weighed.data());
    EXPECT_TRUE(std::equal(weighed.begin(), weighed.end() - kCodeSlack, o.codes.padded.begin()));
    products.assign(pass.products().begin(), pass.products().end());
  }
  bool operator==(const OptionOutcome&) const = default;
};

// The gated gradient of tensors to which a value per image and channel is added.
template <typename T>
struct AddedGradient {
  std::vector<T> g;
  GradientSums sums;
  std::vector<std::uint8_t> codes;

  AddedGradient(const Tensors<T>& t, const GradientSource& source) : g(t.y.size()) {
    sums = gradient_sums(t.grid, source, t.mean, g.data());
    const CodeParams params = code_params({-9.0f, 9.0f}, 8);
    codes.resize(t.grid.bytes());
    const ErrorSource errors{source, t.a, t.b, t.c};
    make_all(t.grid, ErrorCodes(t.grid, errors, params, {3, 4}), codes.data());
  }
  static std::vector<float> values(const CodeGrid& grid) {
    std::vector<float> values = normals<float>(grid.batch * grid.channels, RandomKey(17));
    for (float& value : values) value = std::nearbyint(4 * value) / 4;
    return values;
  }
};

template <typename T>
void expect_same(const AddedGradient<T>& a, const AddedGradient<T>& b) {
  EXPECT_TRUE(same(a.g, b.g));
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.sums.gradient, b.sums.gradient);
  EXPECT_EQ(a.sums.deviation, b.sums.deviation);
  EXPECT_EQ(a.sums.low, b.sums.low);
  EXPECT_EQ(a.sums.high, b.sums.high);
}

}  // namespace bitcycle::integer::testing
