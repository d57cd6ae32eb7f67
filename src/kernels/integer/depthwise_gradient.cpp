// Depthwise backward-weights: each channel has its own k x k sums. Differences of codes and zero
// points fit 16 bits, so nothing has to be corrected afterwards.

#include "kernels/integer/streaming.h"
#include "kernels/integer/weight_gradient.h"
#include "kernels/integer/weights.h"

#include <algorithm>
#include <vector>

namespace bitcycle::integer {
namespace {

// Products of two 9-bit differences that a 32-bit sum may hold.
constexpr std::int64_t kMaxDifferences = 2147483647LL / (255 * 255);

constexpr int kBlockPixels = 128;

struct Sums {
  std::vector<std::int32_t> narrow;  // [panel][ky][kx][16]
  std::vector<std::int64_t> wide;

  explicit Sums(std::size_t size) : narrow(size), wide(size) {}
  void widen() {
    for (std::size_t i = 0; i < narrow.size(); ++i) wide[i] += narrow[i];
    std::fill(narrow.begin(), narrow.end(), 0);
  }
};

// Output rows that are multiplied at once: enough for the sums' loads and stores to pay, few
// enough for the rows to stay in the first-level cache from one panel to the next.
int rows_at_once(const ConvShape& s) {
  return std::clamp(kBlockPixels / s.out_width(), 1, s.out_height());
}

// The rows [y, y + rows) of image n.
DepthwiseOuterJob rows_of(const ConvShape& s, Codes input, Codes errors, const Microkernels& table,
                          int n, int y, int rows) {
  const CodeGrid source = s.input_grid();
  const CodeGrid error = s.error_grid();
  const int zero = errors.params.zero_point;
  const std::uint8_t* e =
      errors.data + n * error.image_bytes() + (y + error.halo) * error.row_bytes();
  return {.source = input.data + n * source.image_bytes() +
                    std::ptrdiff_t{y} * s.stride * source.row_bytes(),
          .errors = e + std::ptrdiff_t{error.halo} * error.channels,
          .rows = rows,
          .columns = s.out_width(),
          .kernel = s.kernel,
          .stride = s.stride,
          .pixel_bytes = s.out_channels,
          .source_row_bytes = source.row_bytes(),
          .error_row_bytes = error.row_bytes(),
          .source_zero = input.params.zero_point,
          .error_zero = zero,
          .byte_errors = table.within(e, rows * error.row_bytes(),
                                      {std::max(0, zero - 128), std::min(255, zero + 127)}),
          .sums = nullptr};
}

void add_rows(DepthwiseOuterJob job, int panels, const Microkernels& table, Sums& sums) {
  job.sums = sums.narrow.data();
  const std::ptrdiff_t source_bytes = job.rows * job.stride * job.source_row_bytes;
  const RowsAhead source(job.source_row(job.rows, job.kernel - job.stride), source_bytes, panels);
  const RowsAhead errors(job.error_row(job.rows), job.rows * job.error_row_bytes, panels);
  for (int panel = 0; panel < panels; ++panel) {
    source.fetch(panel);
    errors.fetch(panel);
    table.depthwise_outer(job);
    job.source += kPanel;
    job.errors += kPanel;
    job.sums += job.kernel * job.kernel * kPanel;
  }
}

}  // namespace

void depthwise_weight_gradient(const ConvShape& s, Codes input, Codes errors,
                               std::span<const double> factors, std::span<float> gradient) {
  const Microkernels& table = microkernels();
  const auto size = static_cast<std::size_t>(padded(s.out_channels)) * s.kernel * s.kernel;
  const int at_once = rows_at_once(s);
  std::vector<std::int64_t> total(size);
#pragma omp parallel
  {
    Sums own(size);
    std::int64_t pixels = 0;
#pragma omp for schedule(dynamic, 1) nowait
    for (int n = 0; n < s.batch; ++n) {
      for (int y = 0; y < s.out_height(); y += at_once) {
        const int rows = std::min(at_once, s.out_height() - y);
        if (pixels + rows * s.out_width() > kMaxDifferences) {
          own.widen();
          pixels = 0;
        }
        pixels += rows * s.out_width();
        add_rows(rows_of(s, input, errors, table, n, y, rows), panels_of(s.out_channels), table,
                 own);
      }
    }
    own.widen();
#pragma omp critical(bitcycle_depthwise_sums)
    for (std::size_t i = 0; i < size; ++i) total[i] += own.wide[i];
  }
  const int taps = s.kernel * s.kernel;
  for (int c = 0; c < s.out_channels; ++c) {
    for (int t = 0; t < taps; ++t) {
      const auto sum = static_cast<double>(
          total[(static_cast<std::size_t>(c / kPanel) * taps + t) * kPanel + c % kPanel]);
      gradient[static_cast<std::size_t>(c) * taps + t] =
          static_cast<float>(sum * factors[static_cast<std::size_t>(c)]);
    }
  }
}

}  // namespace bitcycle::integer
