#pragma once

// AVX2 depthwise convolutions with any taps: every channel on its own, 16 at a time.

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

namespace bitcycle::integer::avx2 {
namespace {

// The sums of one pixel and 16 channels. Two taps are interleaved into pairs: vpmaddwd multiplies
// them with the weights, vpmaddubsw with ones for the box. Boxes of up to 257 taps fit 16 bits.
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
  for (int p = 0; p < job.pixels(); ++p) {
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

// The results of a pixel, where they fit 16 bits.
inline void save_narrow(__m256i sums, __m256i boxes, __m256i zero, std::int32_t* out,
                        float* out_boxes) {
  unroll<2>([&](auto half) {
    save(out + half * 8, _mm256_cvtepi16_epi32(_mm256_extracti128_si256(sums, half)));
    const __m256i box = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(boxes, half));
    _mm256_storeu_ps(out_boxes + half * 8, _mm256_cvtepi32_ps(_mm256_sub_epi32(box, zero)));
  });
}

// Sums that fit 16 bits, 4 pixels at a time: they share the loads of weights and tap offsets. The
// last block may reach past `pixels`, into offsets and results that are there for that.
void depthwise_singles(const DepthwiseJob& job) {
  constexpr int kPixels = 4;
  const __m256i zero = _mm256_set1_epi32(job.box_zero);
  for (int p = 0; p < job.pixels(); p += kPixels) {
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
    unroll<kPixels>([&](auto i) {
      save_narrow(sums[i], boxes[i], zero, job.sums + (p + i) * kPanel,
                  job.boxes + (p + i) * kPanel);
    });
  }
}

void depthwise_any(const DepthwiseJob& job) {
  job.singles != nullptr ? depthwise_singles(job) : depthwise_pairs(job);
}

// Two pixels' differences from the zero point as pairs of 16-bit lanes, 8 channels a register.
struct PixelPair {
  __m256i half[2];
  PixelPair(__m128i a, __m128i b, __m256i zero)
      : half{_mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpacklo_epi8(a, b)), zero),
             _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_unpackhi_epi8(a, b)), zero)} {}
};

// One row of outputs and kTaps neighbouring taps of a row at once, so that they share the errors'
// loads.
template <int kTaps>
void depthwise_outer_taps(const DepthwiseOuterJob& job, const std::uint8_t* e,
                          const std::uint8_t* q, std::int32_t* out) {
  const __m256i error_zero = _mm256_set1_epi16(static_cast<short>(job.error_zero));
  const __m256i source_zero = _mm256_set1_epi16(static_cast<short>(job.source_zero));
  // An odd last pixel is paired with one whose error is zero.
  const __m128i no_error = _mm_set1_epi8(static_cast<char>(job.error_zero));
  const std::ptrdiff_t step = job.stride * job.pixel_bytes;
  __m256i sums[kTaps][2];
  unroll<kTaps * 2>([&](auto i) { sums[i / 2][i % 2] = load(out + i * 8); });
  for (int x = 0; x < job.columns; x += 2) {
    const bool last = x + 1 == job.columns;
    const PixelPair error(load16(e), last ? no_error : load16(e + job.pixel_bytes), error_zero);
    unroll<kTaps>([&](auto t) {
      const std::uint8_t* tap = q + t * job.pixel_bytes;
      const PixelPair source(load16(tap), last ? no_error : load16(tap + step), source_zero);
      unroll<2>([&](auto half) {
        const __m256i products = _mm256_madd_epi16(error.half[half], source.half[half]);
        sums[t][half] = _mm256_add_epi32(sums[t][half], products);
      });
    });
    e += 2 * job.pixel_bytes;
    q += 2 * step;
  }
  unroll<kTaps * 2>([&](auto i) { save(out + i * 8, sums[i / 2][i % 2]); });
}

void depthwise_outer_row(const DepthwiseOuterJob& job, const std::uint8_t* errors,
                         const std::uint8_t* source, std::int32_t* sums) {
  int kx = 0;
  for (; kx + 3 <= job.kernel; kx += 3) {
    depthwise_outer_taps<3>(job, errors, source + kx * job.pixel_bytes, sums + kx * kPanel);
  }
  for (; kx < job.kernel; ++kx) {
    depthwise_outer_taps<1>(job, errors, source + kx * job.pixel_bytes, sums + kx * kPanel);
  }
}

void depthwise_outer_any(const DepthwiseOuterJob& job) {
  for (int y = 0; y < job.rows; ++y) {
    for (int ky = 0; ky < job.kernel; ++ky) {
      depthwise_outer_row(job, job.error_row(y), job.source_row(y, ky),
                          job.sums + ky * job.kernel * kPanel);
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer::avx2
