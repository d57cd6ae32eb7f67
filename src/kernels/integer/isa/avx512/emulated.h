#pragma once

// registers.h for tests on machines with AVX2 alone: what SIMDe offers, and the rest from
// 256-bit halves or element by element.

#include "bitcycle/kernels/integer/tensor.h"

#include "kernels/integer/isa/avx2/registers.h"
#include "kernels/integer/isa/unroll.h"

namespace bitcycle::integer::avx512 {
namespace {

using Mask = std::uint16_t;

// Registers as arrays of their halves or elements.
template <typename To, typename From>
To cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <typename T, int kCount>
struct Parts {
  T at[kCount];
};
using Floats = Parts<float, 16>;
using Ints = Parts<std::int32_t, 16>;

template <typename To, typename From, typename F>
To each(const From& from, F f) {
  To to;
  for (int i = 0; i < 16; ++i) to.at[i] = f(from.at[i]);
  return to;
}

inline __m512i quarter(__m512i v) {
  return cast<__m512i>(each<Ints>(cast<Ints>(v), [](std::int32_t x) { return x / 4; }));
}
inline __m512 half_to_float(__m256i v) {
  const auto halves = cast<Parts<__m128i, 2>>(v);
  return cast<__m512>(
      Parts<__m256, 2>{{_mm256_cvtph_ps(halves.at[0]), _mm256_cvtph_ps(halves.at[1])}});
}
inline __m256i float_to_half(__m512 v) {
  const auto halves = cast<Parts<__m256, 2>>(v);
  return cast<__m256i>(
      Parts<__m128i, 2>{{_mm256_cvtps_ph(halves.at[0], _MM_FROUND_TO_NEAREST_INT),
                         _mm256_cvtps_ph(halves.at[1], _MM_FROUND_TO_NEAREST_INT)}});
}
inline __m512 int_to_float(__m512i v) {
  const auto halves = cast<Parts<__m256i, 2>>(v);
  return cast<__m512>(
      Parts<__m256, 2>{{_mm256_cvtepi32_ps(halves.at[0]), _mm256_cvtepi32_ps(halves.at[1])}});
}
inline __m512i float_to_int(__m512 v) {
  const auto halves = cast<Parts<__m256, 2>>(v);
  return cast<__m512i>(
      Parts<__m256i, 2>{{_mm256_cvtps_epi32(halves.at[0]), _mm256_cvtps_epi32(halves.at[1])}});
}
inline __m512i widen_bytes(__m128i v) {
  return cast<__m512i>(
      each<Ints>(cast<Parts<std::uint8_t, 16>>(v), [](std::uint8_t x) { return int{x}; }));
}
inline __m512i widen_words(__m256i v) {
  return cast<__m512i>(
      each<Ints>(cast<Parts<std::uint16_t, 16>>(v), [](std::uint16_t x) { return int{x}; }));
}
inline __m128i low_bytes(__m512i v) {
  return cast<__m128i>(each<Parts<std::uint8_t, 16>>(
      cast<Ints>(v), [](std::int32_t x) { return static_cast<std::uint8_t>(x); }));
}

template <typename Test>
Mask compare(__m512 a, __m512 b, Test test) {
  const auto x = cast<Floats>(a);
  const auto y = cast<Floats>(b);
  unsigned mask = 0;
  for (int i = 0; i < 16; ++i) mask |= (test(x.at[i], y.at[i]) ? 1U : 0U) << i;
  return static_cast<Mask>(mask);
}
inline Mask greater(__m512 a, __m512 b) {
  return compare(a, b, [](float x, float y) { return x > y; });
}
inline Mask equal(__m512 a, __m512 b) {
  return compare(a, b, [](float x, float y) { return x == y; });
}
inline __m512 select(Mask mask, __m512 yes, __m512 no) {
  const auto from = cast<Floats>(yes);
  auto to = cast<Floats>(no);
  for (int i = 0; i < 16; ++i) {
    if ((mask >> i & 1) != 0) to.at[i] = from.at[i];
  }
  return cast<__m512>(to);
}
inline __m512 or_zero(Mask mask, __m512 v) {
  return select(mask, v, _mm512_setzero_ps());
}

// SIMDe's own do not promise what the instructions do about NaN.
inline __m512 min(__m512 a, __m512 b) {
  return select(greater(b, a), a, b);
}
inline __m512 max(__m512 a, __m512 b) {
  return select(greater(a, b), a, b);
}

// Masks of loads and stores are the first few elements.
inline std::size_t count_of(Mask mask) {
  return static_cast<std::size_t>(__builtin_popcount(mask));
}
template <typename Register, typename T>
Register load_first(const T* p, Mask mask) {
  Parts<T, 16> parts{};
  std::memcpy(static_cast<void*>(&parts), p, count_of(mask) * sizeof(T));
  return cast<Register>(parts);
}
inline __m512 load_some(const float* p, Mask mask) {
  return load_first<__m512>(p, mask);
}
inline __m256i load_some(const Half* p, Mask mask) {
  return load_first<__m256i>(p, mask);
}
inline __m128i load_some(const std::uint8_t* p, Mask mask) {
  return load_first<__m128i>(p, mask);
}
template <typename T, typename Register>
void store_some(T* p, Mask mask, const Register& v) {
  std::memcpy(static_cast<void*>(p), &v, count_of(mask) * sizeof(T));
}

}  // namespace
}  // namespace bitcycle::integer::avx512
