// Depthwise backward-weights: each channel has its own k x k sums. Differences of codes and zero
// points fit 16 bits, so nothing has to be corrected afterwards.

#include "kernels/integer/weight_gradient.h"
#include "kernels/integer/weights.h"

#include <utility>
#include <vector>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Products of two 9-bit differences that a 32-bit sum may hold.
constexpr std::int64_t kMaxDifferences = 2147483647LL / (255 * 255);

struct Sums {
  std::vector<std::int32_t> narrow;  // [panel][ky][kx][16]
  std::vector<std::int64_t> wide;

  std::int64_t pixels = 0;

  void clear(std::size_t size) {
    narrow.assign(size, 0);
    wide.assign(size, 0);
  }
  // Before so many more pixels are added.
  void make_room(int more) {
    if (pixels + more > kMaxDifferences) {
      for (std::size_t i = 0; i < narrow.size(); ++i) wide[i] += std::exchange(narrow[i], 0);
      pixels = 0;
    }
    pixels += more;
  }
};

void add_row(const ConvShape& s, Codes input, Codes errors, const Microkernels& table, int y,
             Sums& sums) {
  const CodeGrid source = s.input_grid();
  const CodeGrid error = s.error_grid();
  const std::uint8_t* e = errors.data + (y + error.halo) * error.row_bytes() +
                          std::ptrdiff_t{error.halo} * error.channels;
  for (int panel = 0; panel < panels_of(s.out_channels); ++panel) {
    for (int ky = 0; ky < s.kernel; ++ky) {
      const std::ptrdiff_t to = (std::ptrdiff_t{panel} * s.kernel + ky) * s.kernel * kPanel;
      table.depthwise_outer({.source = input.data +
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

class DepthwiseWeightGradient : public WeightGradient {
 public:
  DepthwiseWeightGradient(const ConvShape& shape, CodeParams input, CodeParams errors)
      : shape_(shape),
        table_(microkernels()),
        input_(input),
        errors_(errors),
        parts_(static_cast<std::size_t>(omp_get_max_threads())) {}

  int group() const override { return 1; }
  void enter() override {
    own().clear(static_cast<std::size_t>(padded(shape_.out_channels)) * taps());
  }

  void add(int images, const std::uint8_t* input, const std::uint8_t* errors) override {
    for (int n = 0; n < images; ++n) {
      const Codes in{input + n * shape_.input_grid().image_bytes(), input_};
      const Codes out{errors + n * shape_.error_grid().image_bytes(), errors_};
      for (int y = 0; y < shape_.out_height(); ++y) {
        own().make_room(shape_.out_width());
        add_row(shape_, in, out, table_, y, own());
      }
    }
  }

  void finish(std::span<const double> factors, std::span<float> gradient) override {
#pragma omp for schedule(static)
    for (int c = 0; c < shape_.out_channels; ++c) {
      for (std::size_t t = 0; t < taps(); ++t) {
        const auto at = (static_cast<std::size_t>(c / kPanel) * taps() + t) * kPanel +
                        static_cast<std::size_t>(c % kPanel);
        gradient[static_cast<std::size_t>(c) * taps() + t] = static_cast<float>(
            static_cast<double>(total(at)) * factors[static_cast<std::size_t>(c)]);
      }
    }
  }

 private:
  std::size_t taps() const {
    return static_cast<std::size_t>(shape_.kernel) * shape_.kernel;
  }
  Sums& own() {
    return parts_[static_cast<std::size_t>(omp_get_thread_num())];
  }
  std::int64_t total(std::size_t at) const {
    std::int64_t sum = 0;
    for (const Sums& part : parts_) {
      if (!part.wide.empty()) sum += part.wide[at] + part.narrow[at];
    }
    return sum;
  }

  ConvShape shape_;
  const Microkernels& table_;
  CodeParams input_;
  CodeParams errors_;
  std::vector<Sums> parts_;  // of each thread
};

}  // namespace

std::unique_ptr<WeightGradient> depthwise_weight_gradient(const ConvShape& shape, CodeParams input,
                                                          CodeParams errors) {
  return std::make_unique<DepthwiseWeightGradient>(shape, input, errors);
}

}  // namespace bitcycle::integer
