#pragma once

// Loads, stores and the few shapes of register that the 256-bit kernels share. BITCYCLE_SIMDE
// builds the AVX-512 kernels for machines without it, for tests.

#if defined(BITCYCLE_SIMDE)
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>
#endif
#include <cstdint>
#include <cstring>

#include <immintrin.h>

namespace bitcycle::integer::avx2 {
namespace {

inline __m256i load(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline void save(void* p, __m256i v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}

inline __m256i broadcast(const void* p) {
  std::int32_t bytes;
  std::memcpy(&bytes, p, 4);
  return _mm256_set1_epi32(bytes);
}

// 16-bit lanes to 32 bits by adding neighbours.
inline __m256i widened(__m256i lanes) {
  return _mm256_madd_epi16(lanes, _mm256_set1_epi16(1));
}

inline __m128i load16(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
inline void save16(void* p, __m128i v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), v);
}
inline __m128i load8(const void* p) {
  return _mm_loadl_epi64(static_cast<const __m128i*>(p));
}
inline void save8(void* p, __m128i v) {
  _mm_storel_epi64(static_cast<__m128i*>(p), v);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
