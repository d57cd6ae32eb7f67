#include "conv_speed.h"

#include <algorithm>
#include <cmath>

#include <omp.h>

namespace bitcycle::bench {

using namespace integer;

namespace {

constexpr int kErrorBits = 8;

const char* name_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::backward_data:
      return "backward-data";
    default:
      return "backward-weights";
  }
}

// Codes as training makes them: far from the zero point they get rarer exponentially, a mean
// distance of 1/40 of the range. At 8 bits, 99 % of the pixels then allow chains of 4.
integer::testing::TestCodes codes(const CodeGrid& grid, int bits, int zero, RandomKey key) {
  integer::testing::TestCodes out(grid, bits, zero, integer::testing::Pattern::random, key);
  const double mean = out.params.largest_code() / 40.0;
  for (std::size_t i = 0; i < out.dense.size(); ++i) {
    const double distance = -mean * std::log(1.0 - key.derive("distance").uniform(i));
    const double side = zero > 0 && out.dense[i] < zero ? -1.0 : 1.0;
    out.dense[i] = static_cast<std::uint8_t>(
        std::clamp(std::lround(zero + side * distance), 0L, long{out.params.largest_code()}));
  }
  out.fill_padded();
  return out;
}

}  // namespace

std::string SpeedCase::name() const {
  const ConvShape& s = shape;
  return std::string(name_of(pass)) + " " + std::to_string(s.in_channels) + "->" +
         std::to_string(s.out_channels) + (s.depthwise() ? " depthwise" : "") + " " +
         std::to_string(s.kernel) + "x" + std::to_string(s.kernel) + "/" +
         std::to_string(s.stride) + " " + std::to_string(s.height) + "x" + std::to_string(s.width) +
         " " + std::to_string(bits) + " bits";
}

std::vector<SpeedCase> speed_cases() {
  const ConvShape shapes[] = {{8, 32, 32, 16, 16, 3, 1, 1},    {8, 16, 16, 32, 32, 3, 1, 1},
                              {64, 8, 8, 64, 64, 3, 1, 1},     {8, 32, 32, 16, 32, 3, 2, 1},
                              {8, 16, 16, 96, 24, 1, 1, 1},    {8, 16, 16, 32, 192, 1, 1, 1},
                              {8, 16, 16, 144, 144, 3, 1, 144}};
  std::vector<SpeedCase> cases;
  for (const ConvShape& shape : shapes) {
    for (const int bits : {3, 5, 8}) {
      for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
        cases.push_back({pass, shape, bits});
      }
    }
  }
  return cases;
}

ConvSubject::ConvSubject(const SpeedCase& c)
    : case_(c),
      input_(codes(c.shape.input_grid(), c.bits, 0, RandomKey(1))),
      errors_(codes(c.shape.error_grid(), kErrorBits, 127, RandomKey(2))),
      weights_(c.shape),
      output_(static_cast<std::size_t>(
          std::max(c.shape.input_grid().elements(), c.shape.error_grid().elements()))),
      gradient_(static_cast<std::size_t>(c.shape.weights())) {
  weights_.quantize(integer::testing::real_weights(c.shape, RandomKey(3)), c.bits);
}

void ConvSubject::run() {
  switch (case_.pass) {
    case Pass::forward:
      return conv_forward(case_.shape, input_.view(), weights_, output_.data(), stats_);
    case Pass::backward_data:
      return conv_backward({case_.shape, {{{}, errors_.view()}}, weights_, output_.data(), {}});
    case Pass::backward_weights:
      return conv_backward(
          {case_.shape, {{input_.view(), errors_.view()}}, weights_, {}, gradient_});
  }
}

bool ConvSubject::agrees(Isa isa) {
  const auto result = [&](Isa set) {
    const ScopedIsa scope(set);
    run();
    return std::pair(output_, gradient_);
  };
  const auto [want, want_gradient] = result(Isa::scalar);
  const auto [found, found_gradient] = result(isa);
  return want_gradient == found_gradient &&
         std::equal(want.begin(), want.end(), found.begin(),
                    [](Half a, Half b) { return a.bits == b.bits; });
}

Mix ConvSubject::mix(Isa isa) const {
  const bool weights = case_.pass == Pass::backward_weights;
  const int source_bits = case_.pass == Pass::backward_data ? kErrorBits : case_.bits;
  return code_mix(isa, source_bits, weights ? kErrorBits : case_.bits);
}

Speed ConvSubject::measure(Isa isa, int repeats) {
  const ScopedIsa scope(isa);
  omp_set_num_threads(1);
  return bench::measure([this] { run(); }, macs(), mix(isa), repeats);
}

}  // namespace bitcycle::bench
