#pragma once

// AVX2 passes over codes: pixel sums, saturation checks, interleaving, and the depthwise loops,
// which are bound by loads rather than by multiplication.

#include "kernels/integer/avx2_registers.h"
#include "kernels/integer/microkernels.h"
#include "kernels/integer/unroll.h"

namespace bitcycle::integer::avx2 {
namespace {

inline __m128i load16(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
inline void save16(void* p, __m128i v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), v);
}

// Calls `four` for whole runs of 4 pixels and, on a copy, for the last few: results of pixels that
// do not exist are dropped.
template <typename T, typename Four>
[[gnu::always_inline]] inline void by_four(const std::uint8_t* codes, int pixels, int channels,
                                           T* sums, Four four) {
  for (; pixels >= 4; pixels -= 4, codes += 4 * std::ptrdiff_t{channels}, sums += 4) {
    four([&](int i) { return codes + i * std::ptrdiff_t{channels}; }, sums);
  }
  if (pixels == 0) return;
  T rest[4];
  four([&](int i) { return codes + (i < pixels ? i : 0) * std::ptrdiff_t{channels}; }, rest);
  std::memcpy(sums, rest, static_cast<std::size_t>(pixels) * sizeof(T));
}

// The sum of a pixel's first `whole` codes, a multiple of 16, in two halves of 64 bits.
inline __m128i half_sums(const std::uint8_t* codes, int whole) {
  __m128i sums = _mm_setzero_si128();
  for (int c = 0; c < whole; c += 16) {
    sums = _mm_add_epi64(sums, _mm_sad_epu8(load16(codes + c), _mm_setzero_si128()));
  }
  return sums;
}

void pixel_sums(const std::uint8_t* codes, int pixels, int channels, std::int32_t* sums) {
  const int whole = channels / 16 * 16;
  by_four(codes, pixels, channels, sums, [&](auto pixel, std::int32_t* out) {
    __m128i p[4];
    unroll<4>([&](auto i) { p[i] = half_sums(pixel(i), whole); });
    const __m128i first = _mm_or_si128(p[0], _mm_slli_epi64(p[1], 32));
    const __m128i second = _mm_or_si128(p[2], _mm_slli_epi64(p[3], 32));
    save16(out,
           _mm_add_epi32(_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second)));
    for (int c = whole; c < channels; ++c) {
      for (int i = 0; i < 4; ++i) out[i] += pixel(i)[c];
    }
  });
}

// lanes + weights * (codes - zero), for 8 codes
inline __m256 add_weighted(__m256 lanes, const std::uint8_t* codes, const float* weights,
                           __m256i zero) {
  const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes));
  const __m256i differences = _mm256_sub_epi32(_mm256_cvtepu8_epi32(eight), zero);
  return _mm256_fmadd_ps(_mm256_loadu_ps(weights), _mm256_cvtepi32_ps(differences), lanes);
}

// Each pixel's ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), the order that vhaddps adds in. Weights
// are padded with zeros, and codes past a pixel's last are some code, so a tail needs no care.
void weighted_pixel_sums(const std::uint8_t* codes, int pixels, int channels, int zero,
                         const float* weights, float* sums) {
  const __m256i zeros = _mm256_set1_epi32(zero);
  by_four(codes, pixels, channels, sums, [&](auto pixel, float* out) {
    __m256 lanes[4];
    unroll<4>([&](auto i) { lanes[i] = _mm256_setzero_ps(); });
    for (int c = 0; c < channels; c += 8) {
      unroll<4>(
          [&](auto i) { lanes[i] = add_weighted(lanes[i], pixel(i) + c, weights + c, zeros); });
    }
    const __m256 quads =
        _mm256_hadd_ps(_mm256_hadd_ps(lanes[0], lanes[1]), _mm256_hadd_ps(lanes[2], lanes[3]));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(quads), _mm256_extractf128_ps(quads, 1)));
  });
}

// Whether `pair_sum` of all 32-byte pieces stays at or below `limit` (unsigned 16 bits).
template <typename PairSum>
[[gnu::always_inline]] inline bool all_pairs(const std::uint8_t* codes, std::ptrdiff_t bytes,
                                             int limit, PairSum pair_sum) {
  __m256i worst = _mm256_setzero_si256();
  std::ptrdiff_t i = 0;
  for (; i + 32 <= bytes; i += 32) worst = _mm256_max_epi16(worst, pair_sum(load(codes + i)));
  std::uint8_t rest[32];
  std::memset(rest, 0, sizeof rest);
  // An odd last byte has no partner in any step; leave it out.
  for (std::ptrdiff_t k = 0; k < (bytes - i) / 2 * 2; ++k) rest[k] = codes[i + k];
  const __m256i last = bytes > i ? pair_sum(load(rest)) : worst;
  worst = _mm256_max_epi16(worst, last);
  return _mm256_testz_si256(_mm256_cmpgt_epi16(worst, _mm256_set1_epi16(static_cast<short>(limit))),
                            _mm256_set1_epi8(-1)) != 0;
}

bool pairs_fit(const std::uint8_t* codes, std::ptrdiff_t bytes) {
  return all_pairs(codes, bytes, 255,
                   [](__m256i v) { return _mm256_maddubs_epi16(v, _mm256_set1_epi8(1)); });
}

bool signed_pairs_fit(const std::uint8_t* codes, std::ptrdiff_t bytes, std::uint8_t flip) {
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  return all_pairs(codes, bytes, 128, [flips](__m256i v) {
    return _mm256_maddubs_epi16(_mm256_abs_epi8(_mm256_xor_si256(v, flips)), _mm256_set1_epi8(1));
  });
}

inline void interleave_step(const __m128i (&rows)[4], __m128i subtract, std::uint8_t* panel) {
  const __m128i low01 = _mm_unpacklo_epi8(rows[0], rows[1]);
  const __m128i high01 = _mm_unpackhi_epi8(rows[0], rows[1]);
  const __m128i low23 = _mm_unpacklo_epi8(rows[2], rows[3]);
  const __m128i high23 = _mm_unpackhi_epi8(rows[2], rows[3]);
  save16(panel, _mm_sub_epi8(_mm_unpacklo_epi16(low01, low23), subtract));
  save16(panel + 16, _mm_sub_epi8(_mm_unpackhi_epi16(low01, low23), subtract));
  save16(panel + 32, _mm_sub_epi8(_mm_unpacklo_epi16(high01, high23), subtract));
  save16(panel + 48, _mm_sub_epi8(_mm_unpackhi_epi16(high01, high23), subtract));
}

void interleave(const std::uint8_t* source, std::ptrdiff_t stride, int pixels,
                std::uint8_t subtract, std::uint8_t* panel) {
  const __m128i bias = _mm_set1_epi8(static_cast<char>(subtract));
  for (; pixels >= 4; pixels -= 4, source += 4 * stride, panel += kStepBytes) {
    const __m128i rows[4] = {load16(source), load16(source + stride), load16(source + 2 * stride),
                             load16(source + 3 * stride)};
    interleave_step(rows, bias, panel);
  }
  if (pixels == 0) return;
  __m128i rows[4] = {bias, bias, bias, bias};  // become 0
  for (int i = 0; i < pixels; ++i) rows[i] = load16(source + i * stride);
  interleave_step(rows, bias, panel);
}

void step_sums(const std::uint8_t* panel, int steps, std::int32_t* sums) {
  const __m256i ones = _mm256_set1_epi8(1);
  __m256i total[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (int s = 0; s < steps; ++s, panel += kStepBytes) {
    total[0] = _mm256_add_epi32(total[0], widened(_mm256_maddubs_epi16(load(panel), ones)));
    total[1] = _mm256_add_epi32(total[1], widened(_mm256_maddubs_epi16(load(panel + 32), ones)));
  }
  save(sums, total[0]);
  save(sums + 8, total[1]);
}

// The sums of one pixel and 16 channels. Two taps are interleaved into pairs: vpmaddwd multiplies
// them with the weights, vpmaddubsw with ones for the box. Boxes fit 16 bits up to 11 x 11 taps.
struct DepthwiseSums {
  __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  __m128i boxes[2] = {_mm_setzero_si128(), _mm_setzero_si128()};

  void add(__m128i a, __m128i b, const std::int16_t* weights) {
    const __m128i pairs[2] = {_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)};
    unroll<2>([&](auto half) {
      const __m256i products =
          _mm256_madd_epi16(_mm256_cvtepu8_epi16(pairs[half]), load(weights + half * 16));
      sums[half] = _mm256_add_epi32(sums[half], products);
      boxes[half] = _mm_add_epi16(boxes[half], _mm_maddubs_epi16(pairs[half], _mm_set1_epi8(1)));
    });
  }
  void save_to(std::int32_t* out, float* out_boxes, __m256i zero) const {
    unroll<2>([&](auto half) {
      save(out + half * 8, sums[half]);
      const __m256i box = _mm256_sub_epi32(_mm256_cvtepu16_epi32(boxes[half]), zero);
      _mm256_storeu_ps(out_boxes + half * 8, _mm256_cvtepi32_ps(box));
    });
  }
};

void depthwise_pairs(const DepthwiseJob& job) {
  const std::size_t whole = job.taps.size() / 2 * 2;
  const __m256i zero = _mm256_set1_epi32(job.box_zero);
  for (int p = 0; p < job.pixels; ++p) {
    const std::uint8_t* a = job.source + job.offsets[p];
    const std::int16_t* w = job.pairs;
    DepthwiseSums sums;
    for (std::size_t t = 0; t < whole; t += 2, w += kPanel * 2) {
      sums.add(load16(a + job.taps[t]), load16(a + job.taps[t + 1]), w);
    }
    if (whole < job.taps.size()) {
      sums.add(load16(a + job.taps[whole]), _mm_setzero_si128(), w);
    }
    sums.save_to(job.sums + p * kPanel, job.boxes + p * kPanel, zero);
  }
}

// Sums that fit 16 bits, 4 pixels at a time: they share the loads of weights and tap offsets. The
// last block may reach past `pixels`, into offsets and results that are there for that.
void depthwise_singles(const DepthwiseJob& job) {
  constexpr int kPixels = 4;
  const __m256i zero = _mm256_set1_epi32(job.box_zero);
  for (int p = 0; p < job.pixels; p += kPixels) {
    __m256i sums[kPixels];
    __m256i boxes[kPixels];
    const std::uint8_t* pixels[kPixels];
    unroll<kPixels>([&](auto i) {
      sums[i] = boxes[i] = _mm256_setzero_si256();
      pixels[i] = job.source + job.offsets[p + i];
    });
    const std::int16_t* w = job.singles;
    for (const std::int32_t tap : job.taps) {
      const __m256i weights = load(w);
      unroll<kPixels>([&](auto i) {
        const __m256i codes = _mm256_cvtepu8_epi16(load16(pixels[i] + tap));
        sums[i] = _mm256_add_epi16(sums[i], _mm256_mullo_epi16(codes, weights));
        boxes[i] = _mm256_add_epi16(boxes[i], codes);
      });
      w += kPanel;
    }
    unroll<kPixels * 2>([&](auto i) {
      constexpr int kHalf = i % 2;
      const __m256i sum = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(sums[i / 2], kHalf));
      const __m256i box = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(boxes[i / 2], kHalf));
      save(job.sums + p * kPanel + i * 8, sum);
      _mm256_storeu_ps(job.boxes + p * kPanel + i * 8,
                       _mm256_cvtepi32_ps(_mm256_sub_epi32(box, zero)));
    });
  }
}

void depthwise(const DepthwiseJob& job) {
  job.singles != nullptr ? depthwise_singles(job) : depthwise_pairs(job);
}

// Two pixels' differences from the zero point as pairs of 16-bit lanes, 8 channels a register.
struct PixelPair {
  __m256i half[2];
  PixelPair(__m128i a, __m128i b, __m256i zero)
      : half{_mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), zero),
             _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), zero)} {}
};

// kTaps neighbouring taps of a row at once, so that they share the errors' loads.
template <int kTaps>
void depthwise_outer_taps(const DepthwiseOuterJob& job, int first) {
  const __m256i error_zero = _mm256_set1_epi16(static_cast<short>(job.error_zero));
  const __m256i source_zero = _mm256_set1_epi16(static_cast<short>(job.source_zero));
  // An odd last pixel is paired with one whose error is zero.
  const __m128i no_error = _mm_set1_epi8(static_cast<char>(job.error_zero));
  const std::uint8_t* e = job.errors;
  const std::uint8_t* q = job.source + first * job.pixel_stride;
  std::int32_t* out = job.sums + first * kPanel;
  __m256i sums[kTaps][2];
  unroll<kTaps * 2>([&](auto i) { sums[i / 2][i % 2] = load(out + i * 8); });
  for (int x = 0; x < job.pixels; x += 2) {
    const bool last = x + 1 == job.pixels;
    const PixelPair error(load16(e), last ? no_error : load16(e + job.pixel_stride), error_zero);
    unroll<kTaps>([&](auto t) {
      const std::uint8_t* tap = q + t * job.pixel_stride;
      const PixelPair source(load16(tap), last ? no_error : load16(tap + job.source_pixel_stride),
                             source_zero);
      unroll<2>([&](auto half) {
        const __m256i products = _mm256_madd_epi16(error.half[half], source.half[half]);
        sums[t][half] = _mm256_add_epi32(sums[t][half], products);
      });
    });
    e += 2 * job.pixel_stride;
    q += 2 * job.source_pixel_stride;
  }
  unroll<kTaps * 2>([&](auto i) { save(out + i * 8, sums[i / 2][i % 2]); });
}

void depthwise_outer(const DepthwiseOuterJob& job) {
  int kx = 0;
  for (; kx + 3 <= job.kernel; kx += 3) depthwise_outer_taps<3>(job, kx);
  for (; kx < job.kernel; ++kx) depthwise_outer_taps<1>(job, kx);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
