#pragma once

// 16 floats in two AVX2 registers; see ScalarLanes for the meaning of each operation.

#include "bitcycle/kernels/integer/tensor.h"

#include "kernels/integer/isa/avx2/nest_bytes.h"
#include "kernels/integer/isa/noise_words.h"
#include "kernels/integer/isa/unroll.h"

#include <cstring>

#include <immintrin.h>

namespace bitcycle::integer {
namespace {

class Avx2Lanes {
 public:
  static constexpr int kSumsAtOnce = 4;  // that stay in registers together

  static Avx2Lanes all(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
  static Avx2Lanes load(const float* p, int count) {
    float copy[16];
    if (count < 16) p = padded(p, count, copy);
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
  }
  static Avx2Lanes load(const Half* p, int count) {
    Half copy[16];
    if (count < 16) p = padded(p, count, copy);
    return {_mm256_cvtph_ps(load16(p)), _mm256_cvtph_ps(load16(p + 8))};
  }
  class Noise {
   public:
    Noise(NoiseKey key, std::uint32_t first_pair, std::uint32_t step)
        : words_(key, first_pair, step) {}
    Avx2Lanes next() {
      const __m256i words = words_.next();
      return {as_float(_mm256_castsi256_si128(words)),
              as_float(_mm256_extracti128_si256(words, 1))};
    }

   private:
    static __m256 as_float(__m128i halves) {
      return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(halves));
    }
    NoiseWords words_;
  };
  void store(float* p, int count) const {
    if (count < 16) return store_copy(p, count);
    _mm256_storeu_ps(p, v_[0]);
    _mm256_storeu_ps(p + 8, v_[1]);
  }
  void store(Half* p, int count) const {
    if (count < 16) return store_copy(p, count);
    unroll<2>([&](auto h) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8 * h),
                       _mm256_cvtps_ph(v_[h], _MM_FROUND_TO_NEAREST_INT));
    });
  }

  Avx2Lanes operator+(const Avx2Lanes& o) const {
    return {_mm256_add_ps(v_[0], o.v_[0]), _mm256_add_ps(v_[1], o.v_[1])};
  }
  Avx2Lanes operator-(const Avx2Lanes& o) const {
    return {_mm256_sub_ps(v_[0], o.v_[0]), _mm256_sub_ps(v_[1], o.v_[1])};
  }
  Avx2Lanes operator*(const Avx2Lanes& o) const {
    return {_mm256_mul_ps(v_[0], o.v_[0]), _mm256_mul_ps(v_[1], o.v_[1])};
  }
  Avx2Lanes times_plus(const Avx2Lanes& factor, const Avx2Lanes& term) const {
    return {_mm256_fmadd_ps(v_[0], factor.v_[0], term.v_[0]),
            _mm256_fmadd_ps(v_[1], factor.v_[1], term.v_[1])};
  }
  Avx2Lanes min(const Avx2Lanes& o) const {
    return {_mm256_min_ps(v_[0], o.v_[0]), _mm256_min_ps(v_[1], o.v_[1])};
  }
  Avx2Lanes max(const Avx2Lanes& o) const {
    return {_mm256_max_ps(v_[0], o.v_[0]), _mm256_max_ps(v_[1], o.v_[1])};
  }
  Avx2Lanes where_positive(const Avx2Lanes& gate) const {
    return {_mm256_and_ps(v_[0], positive(gate.v_[0])), _mm256_and_ps(v_[1], positive(gate.v_[1]))};
  }
  Avx2Lanes where_equal(const Avx2Lanes& a, float b) const {
    const __m256 value = _mm256_set1_ps(b);
    return {_mm256_and_ps(v_[0], _mm256_cmp_ps(a.v_[0], value, _CMP_EQ_OQ)),
            _mm256_and_ps(v_[1], _mm256_cmp_ps(a.v_[1], value, _CMP_EQ_OQ))};
  }
  Avx2Lanes where_bits(std::uint16_t bits) const {
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const auto select = [&](__m256 v, int byte) {
      const __m256i own = _mm256_and_si256(_mm256_set1_epi32(byte), lane);
      return _mm256_and_ps(v, _mm256_castsi256_ps(_mm256_cmpeq_epi32(own, lane)));
    };
    return {select(v_[0], bits & 0xff), select(v_[1], bits >> 8)};
  }
  Avx2Lanes replaced_where_greater(const Avx2Lanes& by, const Avx2Lanes& candidate,
                                   const Avx2Lanes& best) const {
    const auto pick = [](__m256 v, __m256 with, __m256 a, __m256 b) {
      return _mm256_blendv_ps(v, with, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
    };
    return {pick(v_[0], by.v_[0], candidate.v_[0], best.v_[0]),
            pick(v_[1], by.v_[1], candidate.v_[1], best.v_[1])};
  }
  Avx2Lanes or_where_missing(float value, int count) const {
    if (count == 16) return *this;
    float values[16];
    store(values, 16);
    for (int i = count; i < 16; ++i) values[i] = value;
    return load(values, 16);
  }
  std::uint16_t positive_bits() const {
    return static_cast<std::uint16_t>(_mm256_movemask_ps(positive(v_[0])) |
                                      _mm256_movemask_ps(positive(v_[1])) << 8);
  }
  float smallest() const {
    return extreme([](__m128 a, __m128 b) { return _mm_min_ps(a, b); },
                   _mm256_min_ps(v_[0], v_[1]));
  }
  float largest() const {
    return extreme([](__m128 a, __m128 b) { return _mm_max_ps(a, b); },
                   _mm256_max_ps(v_[0], v_[1]));
  }

  static Avx2Lanes load_bytes(const std::uint8_t* p, int count) {
    std::uint8_t copy[16];
    if (count < 16) p = padded(p, count, copy);
    const __m128i bytes = load16(p);
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)),
            _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)))};
  }
  void store_bytes(std::uint8_t* p, int count) const {
    store16(packed(_mm256_cvtps_epi32(v_[0]), _mm256_cvtps_epi32(v_[1])), p, count);
  }

  static void nest(std::uint8_t* codes, std::ptrdiff_t count, int largest) {
    avx2::nest_bytes(codes, count, largest);
  }

  class Quantizer {
   public:
    explicit Quantizer(const CodeParams& params)
        : high_(_mm256_set1_ps(static_cast<float>(params.largest_code()))) {}
    void store(const Avx2Lanes& scaled, std::uint8_t* codes, int count) const {
      store16(packed(code(scaled.v_[0]), code(scaled.v_[1])), codes, count);
    }

   private:
    // The conversion rounds to nearest even, the mode that every thread starts in. Packing
    // saturates what is negative to 0.
    __m256i code(__m256 v) const { return _mm256_cvtps_epi32(_mm256_min_ps(v, high_)); }
    __m256 high_;
  };

 private:
  Avx2Lanes(__m256 low, __m256 high) : v_{low, high} {}

  static void store16(__m128i bytes, std::uint8_t* p, int count) {
    if (count == 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
      return;
    }
    std::uint8_t copy[16];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(copy), bytes);
    std::memcpy(p, copy, static_cast<std::size_t>(count) % 16);  // tells GCC 14 that it fits
  }
  static __m128i load16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
  template <typename T>
  static const T* padded(const T* p, int count, T (&copy)[16]) {
    std::memset(static_cast<void*>(copy), 0, sizeof copy);
    std::memcpy(static_cast<void*>(copy), p, static_cast<std::size_t>(count) * sizeof(T));
    return copy;
  }
  template <typename T>
  void store_copy(T* p, int count) const {
    T copy[16];
    store(copy, 16);
    std::memcpy(static_cast<void*>(p), copy, static_cast<std::size_t>(count) * sizeof(T));
  }
  static __m256 positive(__m256 v) { return _mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ); }
  static __m128i packed(__m256i a, __m256i b) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
    return _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  }
  template <typename Pick>
  static float extreme(Pick pick, __m256 v) {
    __m128 x = pick(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = pick(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(pick(x, _mm_movehdup_ps(x)));
  }
  __m256 v_[2];
};

}  // namespace
}  // namespace bitcycle::integer
