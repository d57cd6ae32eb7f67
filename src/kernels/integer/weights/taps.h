#pragma once

// Which kernel taps meet which source pixels along one axis. Forward and backward-data are the same
// gather: output index i sums source positions i * source_step + origin + t, t < count, against
// kernel index first + t * step. Backward through stride s splits the output into s phases by
// parity, each a small convolution of stride 1, so no multiplication with inserted zeros is made.

namespace bitcycle::integer {

struct Taps {
  int first = 0;        // kernel index of tap 0
  int step = 1;         // kernel index step from tap to tap
  int count = 0;        // 0: nothing reaches this phase (1x1 with stride)
  int origin = 0;       // source position of tap 0 for output 0, halo included
  int source_step = 1;  // source step from output to output
};

constexpr Taps forward_taps(int kernel, int stride) {
  return {0, 1, kernel, 0, stride};
}

// Output pixels y = stride * i + phase. Kernel index j reaches source (y + pad - j) / stride when
// that division is exact; the largest such j meets the smallest source position.
constexpr Taps backward_taps(int kernel, int stride, int phase) {
  const int pad = kernel / 2;
  const int smallest = (phase + pad) % stride;
  if (smallest >= kernel) return {0, -stride, 0, 0, 1};
  const int count = (kernel - 1 - smallest) / stride + 1;
  const int largest = smallest + (count - 1) * stride;
  return {largest, -stride, count, (phase + pad - largest) / stride + pad, 1};
}

}  // namespace bitcycle::integer
