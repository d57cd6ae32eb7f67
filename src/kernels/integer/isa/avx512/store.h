#pragma once

// Integer sums to reals, 16 channels in one register; see isa/avx2/store.h, whose bytes these are.

#include "kernels/integer/isa/avx512/registers.h"
#include "kernels/integer/isa/microkernels.h"

namespace bitcycle::integer::avx512 {
namespace {

constexpr Mask kAllChannels = 0xffff;

inline void write(Half* to, Mask mask, __m512 v) {
  store_some(to, mask, float_to_half(v));
}
inline void write(float* to, Mask mask, __m512 v) {
  store_some(to, mask, v);
}

// Running statistics, in the scalar reference's order of operations.
struct Counted {
  __m512 sum, squares, low, high;

  explicit Counted(const float* stats)
      : sum(_mm512_loadu_ps(stats)),
        squares(_mm512_loadu_ps(stats + kPanel)),
        low(_mm512_loadu_ps(stats + 2 * kPanel)),
        high(_mm512_loadu_ps(stats + 3 * kPanel)) {}
  void add(__m512 v) {
    sum = _mm512_add_ps(sum, v);
    squares = _mm512_fmadd_ps(v, v, squares);
    low = min(v, low);
    high = max(v, high);
  }
  void save(float* stats) const {
    _mm512_storeu_ps(stats, sum);
    _mm512_storeu_ps(stats + kPanel, squares);
    _mm512_storeu_ps(stats + 2 * kPanel, low);
    _mm512_storeu_ps(stats + 3 * kPanel, high);
  }
};

// The constants of a panel.
struct PanelConstants {
  __m512i channel_int;
  __m512 offset, scale;

  explicit PanelConstants(const StoreJob& job)
      : channel_int(_mm512_loadu_si512(job.channel_int)),
        offset(_mm512_loadu_ps(job.channel_offset)),
        scale(_mm512_loadu_ps(job.channel_scale)) {}

  template <Box kBox>
  [[gnu::always_inline]] __m512 value(const StoreJob& job, int p) const {
    const __m512 box =
        kBox == Box::pixel ? _mm512_set1_ps(job.boxes[p]) : _mm512_loadu_ps(job.boxes + p * kPanel);
    const __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(job.sums + p * kPanel), channel_int);
    return _mm512_mul_ps(_mm512_fmadd_ps(offset, box, int_to_float(sum)), scale);
  }
};

// Works on a copy of the job: a store could change the original for all the compiler knows.
template <typename T, Box kBox, Sink kSink>
[[gnu::always_inline]] inline void store_panel(const StoreJob job, Mask mask) {
  static constexpr float kUnused[kPanel * 4] = {};
  const PanelConstants panel(job);
  Counted counted(kSink == Sink::counted ? job.stats : kUnused);
  for (int p = 0; p < job.pixels; ++p) {
    __m512 value = panel.value<kBox>(job, p);
    if constexpr (kSink == Sink::counted) counted.add(value);
    if constexpr (kSink == Sink::added) {
      value = _mm512_add_ps(_mm512_loadu_ps(job.added + job.offsets[p]), value);
    }
    write(static_cast<T*>(job.output) + job.offsets[p], mask, value);
  }
  if constexpr (kSink == Sink::counted) counted.save(job.stats);
}

struct Store {
  template <typename T, Box kBox, Sink kSink>
  static void call(const StoreJob& job) {
    if (job.channels == kPanel) return store_panel<T, kBox, kSink>(job, kAllChannels);
    store_panel<T, kBox, kSink>(job, static_cast<Mask>((1U << job.channels) - 1));
  }
};

constexpr StoreKernels kStores = make_stores<Store>();

}  // namespace
}  // namespace bitcycle::integer::avx512
