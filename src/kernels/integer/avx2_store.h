#pragma once

// AVX2: integer sums to reals, with the statistics that batch norm needs.

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/unroll.h"

#include <algorithm>

namespace bitcycle::integer::avx2 {
namespace {

inline void write(Half* to, __m256 v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
inline void write(float* to, __m256 v) {
  _mm256_storeu_ps(to, v);
}

// Running statistics of 8 channels, in the scalar reference's order of operations.
struct Counted {
  __m256 sum, squares, low, high;

  explicit Counted(const float* stats)
      : sum(_mm256_loadu_ps(stats)),
        squares(_mm256_loadu_ps(stats + kPanel)),
        low(_mm256_loadu_ps(stats + 2 * kPanel)),
        high(_mm256_loadu_ps(stats + 3 * kPanel)) {}
  void add(__m256 v) {
    sum = _mm256_add_ps(sum, v);
    squares = _mm256_fmadd_ps(v, v, squares);
    low = _mm256_min_ps(v, low);
    high = _mm256_max_ps(v, high);
  }
  void save(float* stats) const {
    _mm256_storeu_ps(stats, sum);
    _mm256_storeu_ps(stats + kPanel, squares);
    _mm256_storeu_ps(stats + 2 * kPanel, low);
    _mm256_storeu_ps(stats + 3 * kPanel, high);
  }
};

// The channels [8 half, 8 half + 8) of all pixels of a job; `out` and `pitch` address the results.
template <typename T, Box kBox, Sink kSink, typename Out>
[[gnu::always_inline]] inline void store_half(const StoreJob& job, int first, Out out) {
  const __m256i channel_int = load(job.channel_int + first);
  const __m256 offset = _mm256_loadu_ps(job.channel_offset + first);
  const __m256 scale = _mm256_loadu_ps(job.channel_scale + first);
  const __m256 bias = _mm256_loadu_ps(job.bias + first);
  float unused[kPanel * 4] = {};
  Counted counted(kSink == Sink::counted ? job.stats + first : unused);
  for (int p = 0; p < job.pixels; ++p) {
    const __m256 box = kBox == Box::pixel ? _mm256_broadcast_ss(job.boxes + p)
                                          : _mm256_loadu_ps(job.boxes + p * kPanel + first);
    __m256i sum = _mm256_add_epi32(load(job.sums + p * kPanel + first), channel_int);
    sum = _mm256_add_epi32(sum, _mm256_set1_epi32(job.pixel_int[p]));
    __m256 value = _mm256_mul_ps(_mm256_fmadd_ps(offset, box, _mm256_cvtepi32_ps(sum)), scale);
    if constexpr (kSink == Sink::biased) value = _mm256_add_ps(value, bias);
    if constexpr (kSink == Sink::counted) counted.add(value);
    out(p, value);
  }
  if constexpr (kSink == Sink::counted) counted.save(job.stats + first);
}

struct Store {
  template <typename T, Box kBox, Sink kSink>
  static void call(const StoreJob& job) {
    T* output = static_cast<T*>(job.output);
    for (int first = 0; first < job.channels; first += 8) {
      const int channels = std::min(8, job.channels - first);
      if (channels == 8) {
        store_half<T, kBox, kSink>(
            job, first, [&](int p, __m256 v) { write(output + job.offsets[p] + first, v); });
      } else {
        store_half<T, kBox, kSink>(job, first, [&](int p, __m256 v) {
          T values[8];
          write(values, v);
          std::copy_n(values, channels, output + job.offsets[p] + first);
        });
      }
    }
  }
};

constexpr StoreKernels kStores = make_stores<Store>();

}  // namespace
}  // namespace bitcycle::integer::avx2
