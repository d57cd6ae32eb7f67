#pragma once

// The tiles of fully connected layers in plain C++.

#include "kernels/integer/isa/linear_loops.h"
#include "kernels/integer/isa/microkernels.h"

namespace bitcycle::integer::scalar {
namespace {

constexpr int kSparseErrors = 4;
constexpr int kTileRows = 4;

// `Row` and `Panel` are the types of their bytes, steps of a row lie kRowStep bytes apart.
template <typename Row, typename Panel, std::ptrdiff_t kRowStep>
void tile(const TileJob& job) {
  for (int r = 0; r < job.row_count; ++r) {
    const Row* row = static_cast<const Row*>(job.rows) + r * job.row_stride;
    for (int lane = 0; lane < job.panel_count * kPanel; ++lane) {
      const Panel* panel = static_cast<const Panel*>(job.panels) +
                           lane / kPanel * job.panel_stride + lane % kPanel * 4;
      std::int32_t sum = 0;
      for (int s = 0; s < job.steps; ++s) {
        for (int k = 0; k < 4; ++k) sum += row[s * kRowStep + k] * panel[s * kStepBytes + k];
      }
      std::int32_t& to = job.sums[r * job.sum_stride + lane];
      to = job.add ? wrapped(to, sum) : sum;
    }
  }
}

constexpr LinearKernels kLinear = with_loops(Operands::bytes, kTileRows, 1, kSparseErrors,
                                             tile<std::uint8_t, std::int8_t, kRowStepBytes>,
                                             tile<std::int8_t, std::uint8_t, kStepBytes>);

}  // namespace
}  // namespace bitcycle::integer::scalar
