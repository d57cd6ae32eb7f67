#pragma once

// Note [Rounding noise] in 256-bit registers: 8 words hold the noise of 16 elements in order.

#include "bitcycle/base/random.h"

#include <immintrin.h>

namespace bitcycle::integer {
namespace {

// The words of 16 elements at a time, `step` pairs of elements apart. Constants are hidden from the
// compiler, which would otherwise make them anew for every pixel instead of reading them.
class NoiseWords {
 public:
  NoiseWords(NoiseKey key, std::uint32_t first_pair, std::uint32_t step)
      : index_(_mm256_add_epi32(word(first_pair), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))),
        step_(word(step)),
        first_(word(key.first)),
        second_(word(key.second)),
        multiplier_(hidden(0x7feb352dU)),
        second_multiplier_(hidden(0x846ca68bU)) {}

  __m256i next() {
    __m256i x = _mm256_xor_si256(index_, first_);
    index_ = _mm256_add_epi32(index_, step_);
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
    x = _mm256_mullo_epi32(x, multiplier_);
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 15));
    x = _mm256_mullo_epi32(_mm256_add_epi32(x, second_), second_multiplier_);
    return _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
  }

 private:
  static __m256i word(std::uint32_t w) { return _mm256_set1_epi32(static_cast<int>(w)); }
  static __m256i hidden(std::uint32_t w) {
    __m256i words = word(w);
    asm("" : "+x"(words));
    return words;
  }

  __m256i index_, step_, first_, second_, multiplier_, second_multiplier_;
};

}  // namespace
}  // namespace bitcycle::integer
