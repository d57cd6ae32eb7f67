// What range tests make of networks that are made up (tests/config/made_up_network.h): the verdict
// of Bitcycle's on a width whose share is known, and its bound beside that of the CPT paper's rule,
// which raises the bits level by level and takes the first at which the mean accuracy jumps by more
// than a threshold.
//
//   range_trials [networks]

#include "config/made_up_network.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include <fmt/core.h>

namespace {

using namespace bitcycle;

// Those of ResNet-20 on CIFAR-10, as docs/schedules.md has them; further ones keep all.
const std::map<int, double> kShares = {{2, 0.79}, {3, 0.95}, {4, 0.97}, {5, 0.99}};
constexpr Step kCycle = 2000;  // of a run of 64,000 steps

void print_verdicts(std::uint64_t networks) {
  fmt::print("share  too little  undecided  enough  pairs\n");
  for (const double share : {0.50, 0.70, 0.77, 0.82, 0.85, 0.87, 0.89, 0.92, 0.97, 1.00}) {
    std::map<RangeTest::Judgement, int> found;
    double pairs = 0;
    for (std::uint64_t seed = 0; seed < networks; ++seed) {
      const RangeTest test = tested(MadeUpNetwork(seed, {{2, share}}));
      ++found[test.results().front().judgement];
      pairs += test.results().front().found.pairs;
    }
    fmt::print("{:.2f}   {:10}  {:9}  {:6}  {:5.1f}\n", share, found[RangeTest::Judgement::bad],
               found[RangeTest::Judgement::undecided], found[RangeTest::Judgement::good],
               pairs / static_cast<double>(networks));
  }
}

// What the lowest width is held against is not said; "nothing": it is what the next is held
// against.
enum class LowestAgainst { chance, nothing };

// The paper's rule. Levels share the cycle evenly; the mean is over the last third of each.
int bound_by_jumps(MadeUpNetwork network, double threshold, LowestAgainst lowest) {
  constexpr int kFrom = 2, kTo = 8;
  constexpr Step kDwell = kCycle / (kTo - kFrom + 1), kWindow = kDwell / 3;
  double before = 0;  // chance
  for (int bits = kFrom; bits < kTo; ++bits) {
    double sum = 0;
    for (Step step = 0; step < kDwell; ++step) {
      const double learned = network.step(bits);
      if (step >= kDwell - kWindow) sum += learned;
    }
    const double mean = sum / kWindow;
    const bool has_reference = bits > kFrom || lowest == LowestAgainst::chance;
    if (has_reference && mean - before > threshold) return bits;
    before = mean;
  }
  return kTo;
}

template <typename Bound>
void print_bounds(const std::string& rule, double pace, std::uint64_t networks,
                  const Bound& bound) {
  std::map<int, int> bounds;
  for (std::uint64_t seed = 0; seed < networks; ++seed)
    ++bounds[bound(MadeUpNetwork(seed, kShares, pace))];
  fmt::print("{:5}  {:<12}", pace, rule);
  for (int bits = 2; bits <= 8; ++bits) fmt::print("  {:4}", bounds[bits]);
  fmt::print("\n");
}

void print_both_rules(std::uint64_t networks) {
  fmt::print("\nnetworks by bound, shares 0.79 at 2 bits, 0.95 at 3, 0.97 at 4, 0.99 at 5\n");
  fmt::print(" pace  rule             2     3     4     5     6     7     8\n");
  for (const double pace : {500.0, 2000.0, 8000.0}) {
    for (const auto lowest : {LowestAgainst::chance, LowestAgainst::nothing}) {
      const char* rule = lowest == LowestAgainst::chance ? "jump of {:.2f}" : "from 3, {:.2f}";
      for (const double threshold : {0.01, 0.03, 0.10}) {
        print_bounds(fmt::format(fmt::runtime(rule), threshold), pace, networks,
                     [&](const MadeUpNetwork& network) {
                       return bound_by_jumps(network, threshold, lowest);
                     });
      }
    }
    print_bounds("shares", pace, networks, [](const MadeUpNetwork& network) {
      return tested(network, {.limit = kCycle}).lower();
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t networks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000;
  print_verdicts(networks);
  print_both_rules(networks);
}
