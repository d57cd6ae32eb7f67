#include "bitcycle/cost/latency.h"

namespace bitcycle {
namespace {

// The one fitted constant: multiply-accumulates a second with 8-bit operands.
constexpr double kMacsPerSecond = 25.6e9;
constexpr double kReferenceBits = 8;
constexpr double kSecondsPerHour = 3600;

}  // namespace

double modelled_hours_zc706(std::int64_t macs, double samples, const MeanBits& bits) {
  // The passes take (w + a) / 2, (w + e) / 2 and (a + e) / 2.
  const double widths = bits.weight + bits.activation + bits.error;
  const double seconds =
      static_cast<double>(macs) * samples * widths / (kReferenceBits * kMacsPerSecond);
  return seconds / kSecondsPerHour;
}

}  // namespace bitcycle
