#pragma once

// How a fused pass goes through an image: bands of rows, one block of 16 channels at a time.
// Coefficients and accumulators then stay in registers, and a band in the first-level cache.

#include "kernels/integer/weights/weights.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

// Where a pixel's block of channels lies in each kind of tensor.
struct Position {
  int y, x;
  std::ptrdiff_t at;    // element of a dense tensor
  std::ptrdiff_t code;  // byte of a code buffer
  std::ptrdiff_t mask;  // byte of a bit mask
};

// A band stays in the first-level cache while its blocks are walked: coefficients and accumulators
// then stay in registers over many pixels.
constexpr int kBandElements = 4096;

// One block of channels in a band of rows.
struct BandBlock {
  CodeGrid grid;
  int channel;  // first of the block
  int count;    // channels that exist, at most 16
  int row;
  int rows;

  // A pixel's values. Tensors come from memory: the hardware's prefetch starts anew on every page,
  // and where a band has several blocks, the first of them goes through it in steps that it does
  // not guess. So each block fetches its part of the next band, or what is soon to be read.
  template <typename Lanes, typename T>
  [[gnu::always_inline]] Lanes load(const T* tensor, const Position& p) const {
    const int ahead = grid.channels > 2 * kPanel ? kBandElements : kBandElements / 4;
    __builtin_prefetch(tensor + p.at + ahead);
    return Lanes::load(tensor + p.at, count);
  }

  // Calls body(position) for every pixel; bodies must be always_inline.
  template <typename Body>
  [[gnu::always_inline]] void each_pixel(Body body) const {
    const std::ptrdiff_t mask_step = std::ptrdiff_t{panels_of(grid.channels)} * 2;
    for (int y = row; y < row + rows; ++y) {
      const std::ptrdiff_t pixel = std::ptrdiff_t{y} * grid.width;
      Position p{
          y, 0, pixel * grid.channels + channel,
          (y + grid.halo) * grid.row_bytes() + std::ptrdiff_t{grid.halo} * grid.channels + channel,
          pixel * mask_step + channel / kPanel * 2};
      for (; p.x < grid.width; ++p.x) {
        body(p);
        p.at += grid.channels;
        p.code += grid.channels;
        p.mask += mask_step;
      }
    }
  }
};

// Calls the body twice in the source, so that whole blocks are compiled with a constant count:
// bodies must be always_inline. Bodies work on copies of their job: a store of bytes could change
// the original for all the compiler knows, and it would be read again for every pixel.
template <typename Body>
[[gnu::always_inline]] inline void each_block(const CodeGrid& grid, Body body) {
  const int band = std::max(1, kBandElements / (grid.width * grid.channels));
  for (int row = 0; row < grid.height; row += band) {
    const int rows = std::min(band, grid.height - row);
    int channel = 0;
    for (; channel + kPanel <= grid.channels; channel += kPanel) {
      body(BandBlock{grid, channel, kPanel, row, rows});
    }
    if (channel < grid.channels) {
      body(BandBlock{grid, channel, grid.channels - channel, row, rows});
    }
  }
}

}  // namespace
}  // namespace bitcycle::integer
