// Depthwise backward-weights: each channel has its own k x k sums, of differences from the zero
// points.

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/conv/weight_gradient.h"
#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Products of two 9-bit differences that a 32-bit sum may hold.
constexpr std::int64_t kMaxDifferences = 2147483647LL / (255 * 255);

constexpr int kBlockPixels = 128;

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

// Output rows that are multiplied at once: enough for the sums' loads and stores to pay, few
// enough for the rows to stay in the first-level cache from one panel to the next.
int rows_at_once(const ConvShape& s) {
  return std::clamp(kBlockPixels / s.out_width(), 1, s.out_height());
}

// The rows [y, y + rows) of an image.
DepthwiseOuterJob rows_of(const ConvShape& s, Codes input, Codes errors, const Microkernels& table,
                          int y, int rows) {
  const CodeGrid source = s.input_grid();
  const CodeGrid error = s.error_grid();
  const int zero = errors.params.zero_point;
  const std::uint8_t* e = errors.data + (y + error.halo) * error.row_bytes();
  return {.source = input.data + std::ptrdiff_t{y} * s.stride * source.row_bytes(),
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
          .byte_errors =
              !table.saturates && table.within(e, rows * error.row_bytes(), byte_differences(zero)),
          .sums = nullptr};
}

void add_rows(DepthwiseOuterJob job, int panels, const Microkernels& table, Sums& sums) {
  job.sums = sums.narrow.data();
  for (int panel = 0; panel < panels; ++panel) {
    table.depthwise_outer(job);
    job.source += kPanel;
    job.errors += kPanel;
    job.sums += job.kernel * job.kernel * kPanel;
  }
}

class DepthwiseWeightGradient : public WeightGradient {
 public:
  DepthwiseWeightGradient(const ConvShape& shape, std::vector<WeightKind> kinds)
      : shape_(shape), table_(microkernels()) {
    for (WeightKind& kind : kinds) {
      kinds_.push_back({kind.input, planes_of(kind.errors), std::move(kind.factors), {}});
      kinds_.back().parts.resize(static_cast<std::size_t>(omp_get_max_threads()) *
                                 kinds_.back().planes.size());
    }
  }

  int parcel() const override { return 1; }
  void enter() override {
    for (Kind& kind : kinds_) {
      for (Sums& sums : kind.own()) {
        sums.clear(static_cast<std::size_t>(padded(shape_.out_channels)) * taps());
      }
    }
  }

  void add(std::size_t index, int images, const std::uint8_t* input,
           const std::uint8_t* errors) override {
    Kind& kind = kinds_[index];
    for (std::size_t p = 0; p < kind.planes.size(); ++p) {
      for (int n = 0; n < images; ++n, errors += shape_.error_grid().image_bytes()) {
        const Codes in{input + n * shape_.input_grid().image_bytes(), kind.input};
        add_image(in, {errors, kind.planes[p].params}, kind.own()[p]);
      }
    }
  }

  void finish(std::span<float> gradient) override {
#pragma omp for schedule(static)
    for (int c = 0; c < shape_.out_channels; ++c) {
      for (std::size_t t = 0; t < taps(); ++t) {
        const auto at = (static_cast<std::size_t>(c / kPanel) * taps() + t) * kPanel +
                        static_cast<std::size_t>(c % kPanel);
        float& sum = gradient[static_cast<std::size_t>(c) * taps() + t];
        for (const Kind& kind : kinds_) {
          const auto own = static_cast<float>(static_cast<double>(kind.total(at)) *
                                              kind.factors[static_cast<std::size_t>(c)]);
          sum = &kind == kinds_.data() ? own : sum + own;
        }
      }
    }
  }

 private:
  struct Kind {
    CodeParams input;
    std::vector<CodePlane> planes;  // of the errors
    std::vector<double> factors;
    std::vector<Sums> parts;  // [thread][plane]

    std::span<Sums> own() {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      return std::span(parts).subspan(thread * planes.size(), planes.size());
    }
    std::int64_t total(std::size_t at) const {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].wide.empty()) continue;
        sum += planes[i % planes.size()].worth * (parts[i].wide[at] + parts[i].narrow[at]);
      }
      return sum;
    }
  };

  void add_image(Codes input, Codes errors, Sums& sums) const {
    for (int y = 0; y < shape_.out_height(); y += rows_at_once(shape_)) {
      const int rows = std::min(rows_at_once(shape_), shape_.out_height() - y);
      sums.make_room(rows * shape_.out_width());
      add_rows(rows_of(shape_, input, errors, table_, y, rows), panels_of(shape_.out_channels),
               table_, sums);
    }
  }
  std::size_t taps() const {
    return static_cast<std::size_t>(shape_.kernel) * shape_.kernel;
  }

  ConvShape shape_;
  const Microkernels& table_;
  std::vector<Kind> kinds_;
};

}  // namespace

std::unique_ptr<WeightGradient> depthwise_weight_gradient(const ConvShape& shape,
                                                          std::vector<WeightKind> kinds) {
  return std::make_unique<DepthwiseWeightGradient>(shape, std::move(kinds));
}

}  // namespace bitcycle::integer
