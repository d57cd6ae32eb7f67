#pragma once

// Depthwise convolutions with VNNI, 16 channels at a time. A column of up to three taps is a
// register of quads: it is put together once and serves every pixel of the row that has it under
// one of its taps. Kernels of more than 3 x 3 taps are left to avx2_depthwise.h.

#include "kernels/integer/avx2_depthwise.h"
#include "kernels/integer/avx512_quads.h"
#include "kernels/integer/avx512_registers.h"

#include <algorithm>

namespace bitcycle::integer::avx512 {
namespace {

// What the pixels of a job with kRows x kColumns taps, kStep apart, share.
template <int kRows, int kColumns, int kStep>
struct DepthwiseRow {
  static constexpr int kNew = std::min(kStep, kColumns);  // columns that the next pixel adds
  static constexpr int kKept = kColumns - kNew;

  __m512i weights[kColumns];
  __m512i box_weights = ones(kRows);
  __m512i box_start;
  std::ptrdiff_t row_bytes, pixel_bytes;

  explicit DepthwiseRow(const DepthwiseJob& job)
      : box_start(_mm512_set1_epi32(-job.box_zero)),
        row_bytes(job.row_bytes),
        pixel_bytes(job.pixel_bytes) {
    unroll<kColumns>(
        [&](auto i) { weights[i] = _mm512_loadu_si512(job.quads + i * kPanel * kQuad); });
  }

  [[gnu::always_inline]] void run(const std::uint8_t* source, int pixels, std::int32_t* sums,
                                  float* boxes) const {
    __m512i columns[kColumns];
    const auto add_column = [&](auto i) __attribute__((always_inline)) {
      columns[i] = gathered<kRows>(source, row_bytes);
      source += pixel_bytes;
    };
    unroll<kKept>([&](auto i) { add_column(std::integral_constant<int, kNew + i>{}); });
    for (int p = 0; p < pixels; ++p, sums += kPanel, boxes += kPanel) {
      unroll<kKept>([&](auto i) { columns[i] = columns[i + kNew]; });
      unroll<kNew>([&](auto i) { add_column(std::integral_constant<int, kKept + i>{}); });
      source += (kStep - kNew) * pixel_bytes;
      __m512i sum = _mm512_setzero_si512();
      __m512i box = box_start;
      unroll<kColumns>([&](auto i) {
        sum = _mm512_dpbusd_epi32(sum, columns[i], weights[i]);
        box = _mm512_dpbusd_epi32(box, columns[i], box_weights);
      });
      _mm512_storeu_si512(sums, sum);
      _mm512_storeu_ps(boxes, int_to_float(box));
    }
  }
};

template <int kRows, int kColumns, int kStep>
void depthwise_rows(const DepthwiseJob& job) {
  const DepthwiseRow<kRows, kColumns, kStep> row(job);
  for (int first = 0; first < job.pixels(); first += job.columns) {
    row.run(job.source + job.offsets[first], job.columns, job.sums + first * kPanel,
            job.boxes + first * kPanel);
  }
}

using DepthwiseKernel = void (*)(const DepthwiseJob&);

constexpr DepthwiseKernel kDepthwiseRows[3][3] = {
    {depthwise_rows<1, 1, 1>, depthwise_rows<1, 2, 1>, depthwise_rows<1, 3, 1>},
    {depthwise_rows<2, 1, 1>, depthwise_rows<2, 2, 1>, depthwise_rows<2, 3, 1>},
    {depthwise_rows<3, 1, 1>, depthwise_rows<3, 2, 1>, depthwise_rows<3, 3, 1>}};

DepthwiseKernel depthwise_kernel(const DepthwiseJob& job) {
  const auto between = [](int value, int low, int high) { return value >= low && value <= high; };
  if (!between(job.tap_rows, 1, 3) || !between(job.tap_columns, 1, 3)) return avx2::depthwise;
  if (job.source_step == 1) return kDepthwiseRows[job.tap_rows - 1][job.tap_columns - 1];
  const bool halving = job.source_step == 2 && job.tap_rows == 3 && job.tap_columns == 3;
  return halving ? depthwise_rows<3, 3, 2> : avx2::depthwise;
}

void depthwise(const DepthwiseJob& job) {
  depthwise_kernel(job)(job);
}

}  // namespace
}  // namespace bitcycle::integer::avx512
