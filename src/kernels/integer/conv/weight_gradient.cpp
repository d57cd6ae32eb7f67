// Dense backward-weights: the batch in parcels of images and bands of rows, the sums of all
// threads.

#include "kernels/integer/conv/weight_gradient.h"

#include "kernels/integer/conv/weight_gradient_band.h"

#include <algorithm>

#include <omp.h>

namespace bitcycle::integer {
namespace {

Accumulator& thread_accumulator() {
  static thread_local Accumulator accumulator;
  return accumulator;
}

class DenseWeightGradient : public WeightGradient {
 public:
  DenseWeightGradient(const ConvShape& shape, CodeParams input, CodeParams errors)
      : layout_(shape),
        table_(microkernels()),
        input_(input),
        errors_(errors),
        total_(caller_total()) {
    total_.start(static_cast<std::size_t>(omp_get_max_threads()));
  }

  int parcel() const override { return layout_.parcel; }

  void enter() override {
    Accumulator& own = thread_accumulator();
    own.clear(layout_);
    total_.join(static_cast<std::size_t>(omp_get_thread_num()), own);
  }

  void add(int images, const std::uint8_t* input, const std::uint8_t* errors) override {
    for (int n = 0; n < images; n += layout_.parcel) {
      const Codes in{input + n * layout_.shape.input_grid().image_bytes(), input_};
      const Codes out{errors + n * layout_.shape.error_grid().image_bytes(), errors_};
      for (int band = 0; band < layout_.bands; ++band) {
        add_band(in, out, std::min(layout_.parcel, images - n), band);
      }
    }
  }

  void finish(std::span<const double> factors, std::span<float> gradient) override {
    const Corrections corrections{half_range(errors_) - errors_.zero_point, input_.zero_point};
#pragma omp for collapse(2) schedule(static)
    for (int panel = 0; panel < layout_.output_panels; ++panel) {
      for (int column = 0; column < layout_.column_panels * layout_.shape.kernel; ++column) {
        total_.finish({layout_, column, panel}, corrections, factors, gradient);
      }
    }
  }

 private:
  static Total& caller_total() {
    static thread_local Total total;
    return total;
  }

  void add_band(Codes input, Codes errors, int images, int band) {
    Accumulator& own = thread_accumulator();
    BandWork work(layout_, table_, input, errors, own, images, band);
    if (own.pixels + work.pixels() > tile_limit(input_, errors_)) {
#pragma omp critical(bitcycle_weight_gradient)
      total_.empty(own, layout_);
    }
    own.pixels += work.pixels();
    work.run();
  }

  Layout layout_;
  const Microkernels& table_;
  CodeParams input_;
  CodeParams errors_;
  Total& total_;
};

}  // namespace

std::unique_ptr<WeightGradient> dense_weight_gradient(const ConvShape& shape, CodeParams input,
                                                      CodeParams errors) {
  return std::make_unique<DenseWeightGradient>(shape, input, errors);
}

}  // namespace bitcycle::integer
