#pragma once

// The loop that the vector sets share for depthwise kernels of up to 3 x 3 taps. A column of taps
// is put together once and serves every pixel of the row that has it under one of its taps.
//
// A set's Taps<kRows, kColumns> holds what the pixels of a job share. It takes kParts registers of
// its own for a column; load() fills them from p down, save() writes the results of a pixel. No
// struct is made of them: GCC would keep it in memory.

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/unroll.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

using DepthwiseKernel = void (*)(const DepthwiseJob&);

// Works on a copy of the taps: a result could change the original for all the compiler knows.
template <typename Taps, int kColumns, int kStep>
[[gnu::always_inline]] inline void depthwise_row(const Taps taps, const std::uint8_t* source,
                                                 int pixels, std::ptrdiff_t pixel_bytes,
                                                 std::int32_t* sums, float* boxes) {
  constexpr int kNew = std::min(kStep, kColumns);  // columns that the next pixel adds
  constexpr int kKept = kColumns - kNew;
  typename Taps::Register columns[kColumns][Taps::kParts];
  const auto add_column = [&](auto i) __attribute__((always_inline)) {
    taps.load(source, columns[i]);
    source += pixel_bytes;
  };
  unroll<kKept>([&](auto i) { add_column(std::integral_constant<int, kNew + i>{}); });
  for (int p = 0; p < pixels; ++p, sums += kPanel, boxes += kPanel) {
    unroll<kKept>([&](auto i) {
      unroll<Taps::kParts>([&](auto part) { columns[i][part] = columns[i + kNew][part]; });
    });
    unroll<kNew>([&](auto i) { add_column(std::integral_constant<int, kKept + i>{}); });
    source += (kStep - kNew) * pixel_bytes;
    taps.save(columns, sums, boxes);
  }
}

template <template <int, int> typename Taps, int kRows, int kColumns, int kStep = 1>
void depthwise_rows(const DepthwiseJob& job) {
  const Taps<kRows, kColumns> taps(job);
  for (int first = 0; first < job.pixels(); first += job.columns) {
    depthwise_row<Taps<kRows, kColumns>, kColumns, kStep>(
        taps, job.source + job.offsets[first], job.columns, job.pixel_bytes,
        job.sums + first * kPanel, job.boxes + first * kPanel);
  }
}

// Null where a job has other taps than these.
template <template <int, int> typename Taps>
DepthwiseKernel depthwise_rows_kernel(const DepthwiseJob& job) {
  static constexpr DepthwiseKernel kKernels[3][3] = {
      {depthwise_rows<Taps, 1, 1>, depthwise_rows<Taps, 1, 2>, depthwise_rows<Taps, 1, 3>},
      {depthwise_rows<Taps, 2, 1>, depthwise_rows<Taps, 2, 2>, depthwise_rows<Taps, 2, 3>},
      {depthwise_rows<Taps, 3, 1>, depthwise_rows<Taps, 3, 2>, depthwise_rows<Taps, 3, 3>}};
  const auto [low, high] = std::minmax(job.tap_rows, job.tap_columns);
  if (low < 1 || high > 3) return nullptr;
  if (job.source_step == 1) return kKernels[job.tap_rows - 1][job.tap_columns - 1];
  return job.source_step == 2 && low == 3 ? depthwise_rows<Taps, 3, 3, 2> : nullptr;
}

}  // namespace
}  // namespace bitcycle::integer
