#include "bitcycle/kernels/peak.h"

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/peak_loops.h"

#include <algorithm>
#include <chrono>

namespace bitcycle {
namespace {

constexpr int kSlices = 60;
constexpr double kSliceSeconds = 3e-3;  // long against starting threads, short against time slices

// What the plain kernels do, on one panel: 16 sums of 4 products a round.
template <typename Left, typename Right, typename Sum>
std::int64_t run_plain(std::int64_t rounds) {
  Left left[4] = {};
  Right right[64] = {};
  Sum sums[16] = {};
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (int c = 0; c < 16; ++c) {
      for (int k = 0; k < 4; ++k) sums[c] += left[k] * right[c * 4 + k];
    }
    asm volatile("" : : "r"(left), "r"(right), "r"(sums) : "memory");
  }
  return rounds * 64;
}

struct Slice {
  double seconds = 0;
  std::int64_t macs = 0;  // of all threads
  double gmacs() const { return 1e-9 * static_cast<double>(macs) / seconds; }
};

Slice run_slice(Mix mix, std::int64_t rounds) {
  std::int64_t macs = 0;
  const auto start = std::chrono::steady_clock::now();
#pragma omp parallel reduction(+ : macs)
  macs += run_mix(mix, rounds);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), macs};
}

std::int64_t rounds_of_a_slice(Mix mix) {
  std::int64_t rounds = 1000;
  while (run_slice(mix, rounds).seconds < kSliceSeconds) rounds *= 2;
  return rounds;
}

}  // namespace

// What the widths alone allow; weights and codes at hand may allow more, at 7 and 8 bits.
Mix code_mix(Isa isa, int unsigned_bits, int signed_bits) {
  if (isa == Isa::scalar) return Mix::plain;
  if (isa == Isa::avx512) return Mix::vnni;
  return integer::chain_length(unsigned_bits, signed_bits) >= 2 ? Mix::chained : Mix::widened;
}

Mix float_mix(Isa isa) {
  if (isa == Isa::scalar) return Mix::plain_float;
  return isa == Isa::avx512 ? Mix::fma_avx512 : Mix::fma_avx2;
}

PassMixes code_mixes(Isa isa, LayerBits bits) {
  const integer::CodeParams errors{.bits = bits.error};
  if (is_wide(errors)) bits.error = high_plane(errors).params.bits;
  return {code_mix(isa, bits.activation, bits.weight), code_mix(isa, bits.error, bits.weight),
          code_mix(isa, bits.activation, bits.error)};
}

PassMixes float_mixes() {
  const Mix mix = float_mix(available_isas().back());
  return {mix, mix, mix};
}

std::int64_t run_mix(Mix mix, std::int64_t rounds) {
  switch (mix) {
    case Mix::plain:
      return run_plain<std::uint8_t, std::int8_t, std::int32_t>(rounds);
    case Mix::plain_float:
      return run_plain<float, float, float>(rounds);
#if defined(__x86_64__)
    case Mix::vnni:
    case Mix::fma_avx512:
      return run_mix_avx512(mix, rounds);
    default:
      return run_mix_avx2(mix, rounds);
#else
    default:
      return 0;
#endif
  }
}

double harmonic_mean(std::span<const double> speeds) {
  double times = 0;
  for (const double speed : speeds) times += 1 / speed;
  return static_cast<double>(speeds.size()) / times;
}

// The passes' slices take turns, so that a busy machine disturbs all alike.
double measure_peak_gmacs(const PassMixes& mixes, int error_planes) {
  std::array<std::int64_t, 3> rounds;
  std::ranges::transform(mixes, rounds.begin(), rounds_of_a_slice);
  std::array<double, 3> best{};
  for (int i = 0; i < kSlices; ++i) {
    for (std::size_t pass = 0; pass < mixes.size(); ++pass) {
      best[pass] = std::max(best[pass], run_slice(mixes[pass], rounds[pass]).gmacs());
    }
  }
  best[1] /= error_planes;
  best[2] /= error_planes;
  return harmonic_mean(best);
}

}  // namespace bitcycle
