#pragma once

// Depthwise convolutions with VNNI, 16 channels at a time: a column of taps is a register of quads.
// Kernels of more than 3 x 3 taps are left to isa/avx2/depthwise.h.

#include "kernels/integer/isa/avx2/depthwise.h"
#include "kernels/integer/isa/avx512/quads.h"
#include "kernels/integer/isa/avx512/registers.h"
#include "kernels/integer/isa/depthwise_rows.h"

namespace bitcycle::integer::avx512 {
namespace {

template <int kRows, int kColumns>
class QuadTaps {
 public:
  using Register = __m512i;
  static constexpr int kParts = 1;

  explicit QuadTaps(const DepthwiseJob& job)
      : box_weights_(ones(kRows)),
        box_start_(_mm512_set1_epi32(-job.box_zero)),
        row_bytes_(job.row_bytes) {
    unroll<kColumns>(
        [&](auto i) { weights_[i] = _mm512_loadu_si512(job.quads + i * kPanel * kQuad); });
  }

  [[gnu::always_inline]] void load(const std::uint8_t* p, Register (&column)[kParts]) const {
    column[0] = gathered<kRows>(p, row_bytes_);
  }
  [[gnu::always_inline]] void save(const Register (&columns)[kColumns][kParts], std::int32_t* sums,
                                   float* boxes) const {
    __m512i sum = _mm512_setzero_si512();
    __m512i box = box_start_;
    unroll<kColumns>([&](auto i) {
      sum = _mm512_dpbusd_epi32(sum, columns[i][0], weights_[i]);
      box = _mm512_dpbusd_epi32(box, columns[i][0], box_weights_);
    });
    _mm512_storeu_si512(sums, sum);
    _mm512_storeu_ps(boxes, int_to_float(box));
  }

 private:
  __m512i weights_[kColumns];
  __m512i box_weights_;
  __m512i box_start_;
  std::ptrdiff_t row_bytes_;
};

void depthwise(const DepthwiseJob& job) {
  const DepthwiseKernel rows = depthwise_rows_kernel<QuadTaps>(job);
  rows != nullptr ? rows(job) : avx2::depthwise_any(job);
}

}  // namespace
}  // namespace bitcycle::integer::avx512
