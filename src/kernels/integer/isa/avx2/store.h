#pragma once

// AVX2: integer sums to reals, with the statistics that batch norm needs.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

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

// 8 channels of a job.
template <Box kBox, Sink kSink>
struct Channels {
  int first;
  __m256i channel_int;
  __m256 offset, scale;
  Counted counted;

  Channels(const StoreJob& job, int channel)
      : first(channel),
        channel_int(load(job.channel_int + first)),
        offset(_mm256_loadu_ps(job.channel_offset + first)),
        scale(_mm256_loadu_ps(job.channel_scale + first)),
        counted(kSink == Sink::counted ? job.stats + first : kUnused) {}

  [[gnu::always_inline]] __m256 value(const StoreJob& job, int p) {
    const __m256 box = kBox == Box::pixel ? _mm256_broadcast_ss(job.boxes + p)
                                          : _mm256_loadu_ps(job.boxes + p * kPanel + first);
    const __m256i sum = _mm256_add_epi32(load(job.sums + p * kPanel + first), channel_int);
    const __m256 value =
        _mm256_mul_ps(_mm256_fmadd_ps(offset, box, _mm256_cvtepi32_ps(sum)), scale);
    if constexpr (kSink == Sink::counted) counted.add(value);
    if constexpr (kSink == Sink::added) {
      return _mm256_add_ps(_mm256_loadu_ps(job.added + job.offsets[p] + first), value);
    }
    return value;
  }
  void finish(const StoreJob& job) const {
    if constexpr (kSink == Sink::counted) counted.save(job.stats + first);
  }

  static constexpr float kUnused[kPanel * 4] = {};
};

// Works on a copy of the job: a store could change the original for all the compiler knows.
template <typename T, Box kBox, Sink kSink>
void store_sixteen(const StoreJob job) {
  Channels<kBox, kSink> low(job, 0);
  Channels<kBox, kSink> high(job, 8);
  for (int p = 0; p < job.pixels; ++p) {
    T* out = static_cast<T*>(job.output) + job.offsets[p];
    write(out, low.value(job, p));
    write(out + 8, high.value(job, p));
  }
  low.finish(job);
  high.finish(job);
}

// The last channels of a tensor, `count` of them at most 8.
template <typename T, Box kBox, Sink kSink>
void store_some(const StoreJob job, int first, int count) {
  Channels<kBox, kSink> channels(job, first);
  for (int p = 0; p < job.pixels; ++p) {
    T values[8];
    write(values, channels.value(job, p));
    std::copy_n(values, count, static_cast<T*>(job.output) + job.offsets[p] + first);
  }
  channels.finish(job);
}

struct Store {
  template <typename T, Box kBox, Sink kSink>
  static void call(const StoreJob& job) {
    if (job.channels == kPanel) return store_sixteen<T, kBox, kSink>(job);
    for (int first = 0; first < job.channels; first += 8) {
      store_some<T, kBox, kSink>(job, first, std::min(8, job.channels - first));
    }
  }
};

constexpr StoreKernels kStores = make_stores<Store>();

}  // namespace
}  // namespace bitcycle::integer::avx2
