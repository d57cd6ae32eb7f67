// Keeps the convolutions fast: each must reach at least half of the fraction of the machine's peak
// that bench/fractions.txt records for its instruction set. Both are measured here, side by side,
// so the test holds on machines of any speed; a case that fails is measured again before it counts.

#include "bitcycle/kernels/peak.h"

#include "conv_speed.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

namespace bitcycle::bench {
namespace {

// "0.61 avx2 forward 16->16 ..." by "avx2 forward 16->16 ...".
std::map<std::string, double> recorded_fractions() {
  std::ifstream file(BITCYCLE_SOURCE_DIR "/bench/fractions.txt");
  std::map<std::string, double> fractions;
  double fraction = 0;
  std::string label;
  while (file >> fraction && std::getline(file >> std::ws, label)) fractions[label] = fraction;
  return fractions;
}

double best_fraction(const SpeedCase& c, Isa isa, double enough) {
  ConvSubject subject(c);
  double best = 0;
  for (int attempt = 0; attempt < 4 && best < enough; ++attempt) {
    best = std::max(best, subject.measure(isa, 10).fraction());
  }
  return best;
}

TEST(SpeedGuard, EveryKernelReachesHalfOfItsRecordedFractionOfPeak) {
  const std::map<std::string, double> recorded = recorded_fractions();
  ASSERT_FALSE(recorded.empty());
  for (const Isa isa : available_isas()) {
    if (isa == Isa::scalar) continue;
    for (const SpeedCase& c : speed_cases()) {
      const std::string label = std::string(name(isa)) + " " + c.name();
      ASSERT_TRUE(recorded.contains(label)) << label << " is not in bench/fractions.txt; record it "
                                            << "with conv_bench --record";
      const double wanted = recorded.at(label) / 2;
      EXPECT_GE(best_fraction(c, isa, wanted), wanted) << label;
    }
  }
}

TEST(SpeedGuard, PeaksOfFewerInstructionsAProductAreHigher) {
  if (std::ranges::count(available_isas(), Isa::avx2) == 0)
    GTEST_SKIP() << "this machine has no AVX2";
  const double chained = measure_peak_gmacs({Mix::chained, Mix::chained, Mix::chained});
  const double wide = measure_peak_gmacs({Mix::wide, Mix::wide, Mix::wide});
  EXPECT_GT(chained, 1.3 * wide);  // as many instructions for twice the products
}

}  // namespace
}  // namespace bitcycle::bench
