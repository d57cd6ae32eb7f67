// The reference: every inner loop in plain C++, exact without conditions. It runs where no vector
// set is available, and the vector kernels are tested against it.

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/pass_kernels.h"
#include "kernels/integer/isa/scalar/linear.h"

#include <algorithm>
#include <cmath>

namespace bitcycle::integer {
namespace {

constexpr int kPixels = 4;

void dot(const DotJob& job) {
  for (int p = 0; p < kPixels * job.blocks; ++p) {
    std::int32_t* sums = job.sums + p * kPanel;
    std::fill_n(sums, kPanel, 0);
    const std::int8_t* w = job.panel;
    for (const Segment& segment : job.segments) {
      const std::uint8_t* a = job.source + job.offsets[p] + segment.offset;
      for (int s = 0; s < segment.steps; ++s, a += 4, w += kStepBytes) {
        for (int c = 0; c < kPanel; ++c) {
          for (int k = 0; k < 4; ++k) sums[c] += a[k] * w[c * 4 + k];
        }
      }
    }
  }
}

void outer(const OuterJob& job) {
  for (int n = 0; n < job.images; ++n) {
    const std::uint8_t* columns = job.columns + n * job.column_stride;
    const std::int8_t* errors = job.errors + n * job.error_stride;
    for (int s = 0; s < job.steps; ++s, columns += kStepBytes, errors += kStepBytes) {
      for (int o = 0; o < kPanel; ++o) {
        for (int c = 0; c < kPanel; ++c) {
          for (int k = 0; k < 4; ++k) {
            job.sums[o * kPanel + c] += errors[o * 4 + k] * columns[c * 4 + k];
          }
        }
      }
    }
  }
}

void write(Half* to, float value) {
  *to = to_half(value);
}
void write(float* to, float value) {
  *to = value;
}

void count(float value, float* stats) {
  stats[0] += value;
  stats[kPanel] = std::fma(value, value, stats[kPanel]);
  stats[2 * kPanel] = std::min(stats[2 * kPanel], value);
  stats[3 * kPanel] = std::max(stats[3 * kPanel], value);
}

std::int32_t wrapping_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

struct Store {
  template <typename T, Box kBox, Sink kSink>
  static void call(const StoreJob& job) {
    for (int p = 0; p < job.pixels; ++p) {
      T* out = static_cast<T*>(job.output) + job.offsets[p];
      for (int c = 0; c < job.channels; ++c) {
        const float box = kBox == Box::pixel ? job.boxes[p] : job.boxes[p * kPanel + c];
        const std::int32_t sum = wrapping_sum(job.sums[p * kPanel + c], job.channel_int[c]);
        float value =
            std::fma(job.channel_offset[c], box, static_cast<float>(sum)) * job.channel_scale[c];
        if constexpr (kSink == Sink::counted) count(value, job.stats + c);
        if constexpr (kSink == Sink::added) value = job.added[job.offsets[p] + c] + value;
        write(out + c, value);
      }
    }
  }
};

void pixel_sums(const std::uint8_t* codes, int pixels, int channels, std::int32_t* sums) {
  for (int p = 0; p < pixels; ++p, codes += channels) {
    std::int32_t sum = 0;
    for (int c = 0; c < channels; ++c) sum += codes[c];
    sums[p] = sum;
  }
}

void weighted_pixel_sums(const std::uint8_t* codes, int pixels, int channels, int zero,
                         const float* weights, float* sums) {
  for (int p = 0; p < pixels; ++p, codes += channels) {
    float lanes[8] = {};
    for (int c = 0; c < channels; ++c) {
      lanes[c % 8] = std::fma(weights[c], static_cast<float>(codes[c] - zero), lanes[c % 8]);
    }
    sums[p] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
              ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

bool within(const std::uint8_t* codes, std::ptrdiff_t bytes, Span span) {
  return std::all_of(codes, codes + bytes,
                     [span](int code) { return code >= span.low && code <= span.high; });
}

void interleave(const std::uint8_t* source, std::ptrdiff_t pixel_stride, int pixels,
                std::uint8_t subtract, std::uint8_t* panel) {
  const int steps = (pixels + 3) / 4;
  for (int i = 0; i < steps * 4; ++i, source += pixel_stride) {
    std::uint8_t* to = panel + (i / 4) * kStepBytes + i % 4;
    for (int c = 0; c < kPanel; ++c) {
      to[c * 4] = i < pixels ? static_cast<std::uint8_t>(source[c] - subtract) : std::uint8_t{0};
    }
  }
}

void step_sums(const std::uint8_t* panel, int steps, std::int32_t* sums) {
  std::fill_n(sums, kPanel, 0);
  for (int i = 0; i < steps * kStepBytes; ++i) sums[i % kStepBytes / 4] += panel[i];
}

void depthwise(const DepthwiseJob& job) {
  for (int p = 0; p < job.pixels(); ++p) {
    std::int32_t sums[kPanel] = {};
    std::int32_t boxes[kPanel] = {};
    for (std::size_t t = 0; t < job.taps.size(); ++t) {
      const std::uint8_t* a = job.source + job.offsets[p] + job.taps[t];
      const std::int16_t* w = job.pairs + t / 2 * kPanel * 2 + t % 2;
      for (int c = 0; c < kPanel; ++c) {
        sums[c] += a[c] * w[c * 2];
        boxes[c] += a[c];
      }
    }
    for (int c = 0; c < kPanel; ++c) {
      job.sums[p * kPanel + c] = sums[c];
      job.boxes[p * kPanel + c] = static_cast<float>(boxes[c] - job.box_zero);
    }
  }
}

void depthwise_outer_row(const DepthwiseOuterJob& job, const std::uint8_t* errors,
                         const std::uint8_t* source, std::int32_t* sums) {
  for (int x = 0; x < job.columns; ++x) {
    const std::uint8_t* e = errors + x * job.pixel_bytes;
    for (int kx = 0; kx < job.kernel; ++kx) {
      const std::uint8_t* q = source + (std::ptrdiff_t{x} * job.stride + kx) * job.pixel_bytes;
      for (int c = 0; c < kPanel; ++c) {
        sums[kx * kPanel + c] += (e[c] - job.error_zero) * (q[c] - job.source_zero);
      }
    }
  }
}

void depthwise_outer(const DepthwiseOuterJob& job) {
  for (int y = 0; y < job.rows; ++y) {
    for (int ky = 0; ky < job.kernel; ++ky) {
      depthwise_outer_row(job, job.error_row(y), job.source_row(y, ky),
                          job.sums + ky * job.kernel * kPanel);
    }
  }
}

constexpr Microkernels kTable{
    .saturates = false,
    .dot = {dot, kPixels},
    .level_pixels = 0,
    .unsigned_dot = {},
    .signed_dot = {},
    .outer = outer,
    .outer_rows = 1,
    .quartets = {},
    .store = make_stores<Store>(),
    .pixel_sums = pixel_sums,
    .weighted_pixel_sums = weighted_pixel_sums,
    .chain_steps = nullptr,
    .survey = nullptr,
    .within = within,
    .interleave = interleave,
    .survey_quartets = nullptr,
    .step_sums = step_sums,
    .depthwise = depthwise,
    .depthwise_outer = depthwise_outer,
    .linear = &scalar::kLinear,
    .passes = &kScalarPasses,
};

}  // namespace

const Microkernels& scalar_microkernels() {
  return kTable;
}

}  // namespace bitcycle::integer
