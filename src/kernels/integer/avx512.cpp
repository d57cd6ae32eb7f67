// AVX-512 with VNNI. vpdpbusd multiplies u8 by s8 exactly into 32 bits, so no width needs a special
// case here. What is bound by memory or loads is left at 256 bits, compiled for this set.

#include "kernels/integer/avx2_depthwise.h"
#include "kernels/integer/avx2_rows.h"
#include "kernels/integer/avx2_store.h"
#include "kernels/integer/pass_kernels.h"

namespace bitcycle::integer {
namespace {

// Two accumulators a pixel, for even and odd steps: 16 hide the latency of vpdpbusd.
constexpr int kPixels = 8;

inline __m512i load64(const void* p) {
  return _mm512_loadu_si512(p);
}
inline __m512i broadcast64(const void* p) {
  std::int32_t bytes;
  std::memcpy(&bytes, p, 4);
  return _mm512_set1_epi32(bytes);
}

[[gnu::noinline]] void dot_block(const DotJob& job, int block) {
  const std::uint8_t* pixels[kPixels];
  unroll<kPixels>([&](auto p) { pixels[p] = job.source + job.offsets[block * kPixels + p]; });
  __m512i sums[kPixels][2];
  unroll<kPixels * 2>([&](auto i) { sums[i / 2][i % 2] = _mm512_setzero_si512(); });
  const std::int8_t* w = job.panel;
  const auto step = [&](std::ptrdiff_t at, auto parity) __attribute__((always_inline)) {
    const __m512i weights = load64(w);
    w += kStepBytes;
    unroll<kPixels>([&](auto p) {
      sums[p][parity] = _mm512_dpbusd_epi32(sums[p][parity], broadcast64(pixels[p] + at), weights);
    });
  };
  for (const Segment& segment : job.segments) {
    std::ptrdiff_t at = segment.offset;
    const std::ptrdiff_t end = at + segment.steps * 4;
    for (; at + 4 < end; at += 8) {
      step(at, std::integral_constant<int, 0>{});
      step(at + 4, std::integral_constant<int, 1>{});
    }
    if (at < end) step(at, std::integral_constant<int, 0>{});
  }
  std::int32_t* out = job.sums + block * kPixels * kPanel;
  unroll<kPixels>([&](auto p) {
    _mm512_storeu_si512(out + p * kPanel, _mm512_add_epi32(sums[p][0], sums[p][1]));
  });
}

void dot(const DotJob& job) {
  for (int block = 0; block < job.blocks; ++block) dot_block(job, block);
}

[[gnu::noinline]] void outer(const OuterJob& job) {
  __m512i sums[kPanel];
  unroll<kPanel>([&](auto o) { sums[o] = load64(job.sums + o * kPanel); });
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns = job.columns + n * job.column_stride;
    const std::int8_t* errors = job.errors + n * job.error_stride;
    for (int s = 0; s < job.steps; ++s, columns += kStepBytes, errors += kStepBytes) {
      const __m512i c = load64(columns);
      unroll<kPanel>(
          [&](auto o) { sums[o] = _mm512_dpbusd_epi32(sums[o], c, broadcast64(errors + o * 4)); });
    }
  }
  unroll<kPanel>([&](auto o) { _mm512_storeu_si512(job.sums + o * kPanel, sums[o]); });
}

#if defined(BITCYCLE_SIMDE)
constexpr const PassKernels* kPasses = &kEmulatedAvx512Passes;
#else
constexpr const PassKernels* kPasses = &kAvx512Passes;
#endif

constexpr Microkernels kTable{
    .saturates = false,
    .dot = {dot, kPixels},
    .level_pixels = 0,
    .unsigned_dot = {},
    .signed_dot = {},
    .outer = outer,
    .units = {},
    .store = avx2::kStores,
    .pixel_sums = avx2::pixel_sums,
    .weighted_pixel_sums = avx2::weighted_pixel_sums,
    .survey = nullptr,
    .within = avx2::within,
    .interleave = avx2::interleave,
    .unit_levels = nullptr,
    .step_sums = avx2::step_sums,
    .depthwise = avx2::depthwise,
    .depthwise_outer = avx2::depthwise_outer,
    .passes = kPasses,
};

}  // namespace

#if defined(BITCYCLE_SIMDE)
const Microkernels& emulated_avx512_microkernels() {
  return kTable;
}
#else
const Microkernels& avx512_microkernels() {
  return kTable;
}
#endif

}  // namespace bitcycle::integer
