// Dense backward-weights: the batch in parcels of images and bands of rows, the sums of all
// threads.

#include "kernels/integer/conv/weight_gradient.h"

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/conv/weight_gradient_band.h"

#include <algorithm>
#include <array>
#include <vector>

#include <omp.h>

namespace bitcycle::integer {
namespace {

constexpr std::size_t kPlanes = 2;  // of the errors, at most

Accumulator& thread_accumulator(std::size_t plane) {
  static thread_local std::array<Accumulator, kPlanes> accumulators;
  return accumulators[plane];
}

class DenseWeightGradient : public WeightGradient {
 public:
  DenseWeightGradient(const ConvShape& shape, CodeParams input, CodeParams errors)
      : layout_(shape),
        table_(microkernels()),
        input_(input),
        planes_(planes_of(errors)),
        totals_(caller_totals()) {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      totals_[p].start(static_cast<std::size_t>(omp_get_max_threads()));
    }
  }

  int parcel() const override { return layout_.parcel; }

  void enter() override {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      Accumulator& own = thread_accumulator(p);
      own.clear(layout_);
      totals_[p].join(static_cast<std::size_t>(omp_get_thread_num()), own);
    }
  }

  void add(int images, const std::uint8_t* input, const std::uint8_t* errors) override {
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      add_plane(p, images, input, errors);
      errors += images * layout_.shape.error_grid().image_bytes();
    }
  }

  void finish(std::span<const double> factors, std::span<float> gradient) override {
    std::vector<PlaneTotal> planes;
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      const CodeParams& errors = planes_[p].params;
      planes.push_back({totals_[p],
                        {half_range(errors) - errors.zero_point, input_.zero_point},
                        planes_[p].worth});
    }
#pragma omp for collapse(2) schedule(static)
    for (int panel = 0; panel < layout_.output_panels; ++panel) {
      for (int column = 0; column < layout_.column_panels * layout_.shape.kernel; ++column) {
        integer::finish({layout_, column, panel}, planes, factors, gradient);
      }
    }
  }

 private:
  using Totals = std::array<Total, kPlanes>;
  static Totals& caller_totals() {
    static thread_local Totals totals;
    return totals;
  }

  void add_plane(std::size_t plane, int images, const std::uint8_t* input,
                 const std::uint8_t* errors) {
    for (int n = 0; n < images; n += layout_.parcel) {
      const Codes in{input + n * layout_.shape.input_grid().image_bytes(), input_};
      const Codes out{errors + n * layout_.shape.error_grid().image_bytes(), planes_[plane].params};
      for (int band = 0; band < layout_.bands; ++band) {
        add_band(plane, in, out, std::min(layout_.parcel, images - n), band);
      }
    }
  }

  void add_band(std::size_t plane, Codes input, Codes errors, int images, int band) {
    Accumulator& own = thread_accumulator(plane);
    BandWork work(layout_, table_, input, errors, own, images, band);
    if (own.pixels + work.pixels() > tile_limit(input_, errors.params)) {
#pragma omp critical(bitcycle_weight_gradient)
      totals_[plane].empty(own, layout_);
    }
    own.pixels += work.pixels();
    work.run();
  }

  Layout layout_;
  const Microkernels& table_;
  CodeParams input_;
  std::vector<CodePlane> planes_;  // of the errors
  Totals& totals_;
};

}  // namespace

std::unique_ptr<WeightGradient> dense_weight_gradient(const ConvShape& shape, CodeParams input,
                                                      CodeParams errors) {
  return std::make_unique<DenseWeightGradient>(shape, input, errors);
}

}  // namespace bitcycle::integer
