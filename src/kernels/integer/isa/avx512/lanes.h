#pragma once

// 16 floats in one AVX-512 register; see ScalarLanes for the meaning of each operation.

#include "kernels/integer/isa/avx2/nest_bytes.h"
#include "kernels/integer/isa/avx512/registers.h"
#include "kernels/integer/isa/noise_words.h"

namespace bitcycle::integer {
namespace {

class Avx512Lanes {
 public:
  static constexpr int kSumsAtOnce = 6;  // that stay in registers together

  static Avx512Lanes all(float value) { return _mm512_set1_ps(value); }
  static Avx512Lanes load(const float* p, int count) {
    return count == 16 ? _mm512_loadu_ps(p) : avx512::load_some(p, first(count));
  }
  static Avx512Lanes load(const Half* p, int count) {
    return avx512::half_to_float(count == 16 ? load32(p) : avx512::load_some(p, first(count)));
  }
  class Noise {
   public:
    Noise(NoiseKey key, std::uint32_t first_pair, std::uint32_t step)
        : words_(key, first_pair, step) {}
    Avx512Lanes next() { return avx512::int_to_float(avx512::widen_words(words_.next())); }

   private:
    NoiseWords words_;
  };
  void store(float* p, int count) const {
    if (count == 16) return _mm512_storeu_ps(p, v_);
    avx512::store_some(p, first(count), v_);
  }
  void store(Half* p, int count) const {
    const __m256i halves = avx512::float_to_half(v_);
    if (count == 16) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), halves);
    avx512::store_some(p, first(count), halves);
  }

  Avx512Lanes operator+(const Avx512Lanes& o) const { return _mm512_add_ps(v_, o.v_); }
  Avx512Lanes operator-(const Avx512Lanes& o) const { return _mm512_sub_ps(v_, o.v_); }
  Avx512Lanes operator*(const Avx512Lanes& o) const { return _mm512_mul_ps(v_, o.v_); }
  Avx512Lanes times_plus(const Avx512Lanes& factor, const Avx512Lanes& term) const {
    return _mm512_fmadd_ps(v_, factor.v_, term.v_);
  }
  Avx512Lanes min(const Avx512Lanes& o) const { return avx512::min(v_, o.v_); }
  Avx512Lanes max(const Avx512Lanes& o) const { return avx512::max(v_, o.v_); }
  Avx512Lanes where_positive(const Avx512Lanes& gate) const {
    return avx512::or_zero(gate.positive_bits(), v_);
  }
  Avx512Lanes where_equal(const Avx512Lanes& a, float b) const {
    return avx512::or_zero(avx512::equal(a.v_, _mm512_set1_ps(b)), v_);
  }
  Avx512Lanes where_bits(std::uint16_t bits) const { return avx512::or_zero(bits, v_); }
  Avx512Lanes replaced_where_greater(const Avx512Lanes& by, const Avx512Lanes& candidate,
                                     const Avx512Lanes& best) const {
    return avx512::select(avx512::greater(candidate.v_, best.v_), by.v_, v_);
  }
  Avx512Lanes or_where_missing(float value, int count) const {
    return count == 16 ? v_ : avx512::select(first(count), v_, _mm512_set1_ps(value));
  }
  std::uint16_t positive_bits() const { return avx512::greater(v_, _mm512_setzero_ps()); }
  float smallest() const {
    return extreme([](float a, float b) { return a < b ? a : b; });
  }
  float largest() const {
    return extreme([](float a, float b) { return a > b ? a : b; });
  }

  static Avx512Lanes load_bytes(const std::uint8_t* p, int count) {
    return avx512::int_to_float(avx512::widen_bytes(avx512::load_some(p, first(count))));
  }
  void store_bytes(std::uint8_t* p, int count) const {
    const __m128i bytes = avx512::low_bytes(avx512::float_to_int(v_));
    if (count == 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
    avx512::store_some(p, first(count), bytes);
  }

  static void nest(std::uint8_t* codes, std::ptrdiff_t count, int largest) {
    avx2::nest_bytes(codes, count, largest);
  }

  class Quantizer {
   public:
    explicit Quantizer(const CodeParams& params)
        : high_(static_cast<float>(params.largest_code())) {}
    void store(const Avx512Lanes& scaled, std::uint8_t* codes, int count) const {
      scaled.min(all(high_)).max(all(0.0f)).store_bytes(codes, count);
    }

   private:
    float high_;
  };

 private:
  Avx512Lanes(__m512 v) : v_(v) {}

  static avx512::Mask first(int count) { return static_cast<avx512::Mask>((1U << count) - 1); }
  static __m256i load32(const void* p) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(p));
  }
  // Once an image at most.
  template <typename Pick>
  float extreme(Pick pick) const {
    float values[16];
    _mm512_storeu_ps(values, v_);
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) values[i] = pick(values[i], values[i + half]);
    }
    return values[0];
  }
  __m512 v_;
};

}  // namespace
}  // namespace bitcycle::integer
