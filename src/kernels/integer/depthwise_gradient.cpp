// Depthwise backward-weights: each channel has its own k x k sums. Differences of codes and zero
// points fit 16 bits, so nothing has to be corrected afterwards.

#include "kernels/integer/weight_gradient.h"
#include "kernels/integer/weights.h"

#include <algorithm>
#include <vector>

namespace bitcycle::integer {
namespace {

// Products of two 9-bit differences that a 32-bit sum may hold.
constexpr std::int64_t kMaxDifferences = 2147483647LL / (255 * 255);

struct Sums {
  std::vector<std::int32_t> narrow;  // [panel][ky][kx][16]
  std::vector<std::int64_t> wide;

  explicit Sums(std::size_t size) : narrow(size), wide(size) {}
  void widen() {
    for (std::size_t i = 0; i < narrow.size(); ++i) wide[i] += narrow[i];
    std::fill(narrow.begin(), narrow.end(), 0);
  }
};

void add_row(const ConvShape& s, Codes input, Codes errors, const Microkernels& table, int n, int y,
             Sums& sums) {
  const CodeGrid source = s.input_grid();
  const CodeGrid error = s.error_grid();
  const std::uint8_t* e = errors.data + n * error.image_bytes() +
                          (y + error.halo) * error.row_bytes() +
                          std::ptrdiff_t{error.halo} * error.channels;
  for (int panel = 0; panel < panels_of(s.out_channels); ++panel) {
    for (int ky = 0; ky < s.kernel; ++ky) {
      const std::ptrdiff_t to = (std::ptrdiff_t{panel} * s.kernel + ky) * s.kernel * kPanel;
      table.depthwise_outer({.source = input.data + n * source.image_bytes() +
                                       (std::ptrdiff_t{y} * s.stride + ky) * source.row_bytes() +
                                       panel * kPanel,
                             .errors = e + panel * kPanel,
                             .pixels = s.out_width(),
                             .kernel = s.kernel,
                             .pixel_stride = s.out_channels,
                             .source_pixel_stride = std::ptrdiff_t{s.stride} * s.in_channels,
                             .source_zero = input.params.zero_point,
                             .error_zero = errors.params.zero_point,
                             .sums = sums.narrow.data() + to});
    }
  }
}

}  // namespace

void depthwise_weight_gradient(const ConvShape& s, Codes input, Codes errors,
                               std::span<const double> factors, std::span<float> gradient) {
  const Microkernels& table = microkernels();
  const auto size = static_cast<std::size_t>(padded(s.out_channels)) * s.kernel * s.kernel;
  std::vector<std::int64_t> total(size);
#pragma omp parallel
  {
    Sums own(size);
    std::int64_t pixels = 0;
#pragma omp for schedule(dynamic, 1) nowait
    for (int n = 0; n < s.batch; ++n) {
      for (int y = 0; y < s.out_height(); ++y) {
        if (pixels + s.out_width() > kMaxDifferences) {
          own.widen();
          pixels = 0;
        }
        pixels += s.out_width();
        add_row(s, input, errors, table, n, y, own);
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
