#pragma once

// AVX2 depthwise convolutions with up to 3 x 3 taps.

#include "kernels/integer/isa/avx2/depthwise.h"
#include "kernels/integer/isa/depthwise_rows.h"

namespace bitcycle::integer::avx2 {
namespace {

// Sums that fit 16 bits. Of a column the first two taps are pairs of bytes, for
// vpmaddubsw, and an odd one is widened.
template <int kRows, int kColumns>
class NarrowTaps {
 public:
  using Register = __m256i;
  static constexpr int kParts = 3;  // the pair, the odd one, their box

  explicit NarrowTaps(const DepthwiseJob& job)
      : zero_(_mm256_set1_epi32(job.box_zero)), row_bytes_(job.row_bytes) {
    const auto weights = [&](int row, int column) {
      return avx2::load(job.singles + (row * kColumns + column) * kPanel);
    };
    unroll<kColumns>([&](auto i) {
      if constexpr (kPaired) {
        const __m256i low = _mm256_and_si256(weights(0, i), _mm256_set1_epi16(0xff));
        pairs_[i] = _mm256_or_si256(low, _mm256_slli_epi16(weights(1, i), 8));
      }
      if constexpr (kSingle) singles_[i] = weights(kRows - 1, i);
    });
  }

  [[gnu::always_inline]] void load(const std::uint8_t* p, Register (&column)[kParts]) const {
    column[0] = column[1] = column[2] = _mm256_setzero_si256();
    if constexpr (kPaired) {
      const __m256i upper = _mm256_cvtepu8_epi16(load16(p));
      const __m256i lower = _mm256_cvtepu8_epi16(load16(p + row_bytes_));
      column[0] = _mm256_or_si256(upper, _mm256_slli_epi16(lower, 8));
      column[2] = _mm256_add_epi16(upper, lower);
    }
    if constexpr (kSingle) {
      column[1] = _mm256_cvtepu8_epi16(load16(p + (kRows - 1) * row_bytes_));
      column[2] = _mm256_add_epi16(column[2], column[1]);
    }
  }

  [[gnu::always_inline]] void save(const Register (&columns)[kColumns][kParts], std::int32_t* sums,
                                   float* boxes) const {
    __m256i sum = _mm256_setzero_si256();
    __m256i box = _mm256_setzero_si256();
    const auto add = [&](__m256i products) { sum = _mm256_add_epi16(sum, products); };
    unroll<kColumns>([&](auto i) {
      if constexpr (kPaired) add(_mm256_maddubs_epi16(columns[i][0], pairs_[i]));
      if constexpr (kSingle) add(_mm256_mullo_epi16(columns[i][1], singles_[i]));
      box = _mm256_add_epi16(box, columns[i][2]);
    });
    save_narrow(sum, box, zero_, sums, boxes);
  }

 private:
  static constexpr bool kPaired = kRows >= 2;
  static constexpr bool kSingle = kRows % 2 == 1;

  __m256i pairs_[kColumns];
  __m256i singles_[kColumns];
  __m256i zero_;
  std::ptrdiff_t row_bytes_;
};

void depthwise(const DepthwiseJob& job) {
  const DepthwiseKernel rows =
      job.singles != nullptr ? depthwise_rows_kernel<NarrowTaps>(job) : nullptr;
  rows != nullptr ? rows(job) : depthwise_any(job);
}

}  // namespace
}  // namespace bitcycle::integer::avx2
