// Dense backward-weights: the batch in parcels of images and bands of rows, the sums of all
// threads.

#include "kernels/integer/conv/weight_gradient.h"

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/conv/weight_gradient_band.h"

#include <algorithm>
#include <vector>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Memory is kept from call to call: that of a thread's sums with the thread, that of totals with
// the thread that calls.
struct ThreadSums {
  std::vector<Accumulator> planes;  // of all kinds
  BandScratch band;
};
ThreadSums& thread_sums() {
  static thread_local ThreadSums sums;
  return sums;
}
std::vector<Total>& caller_totals() {
  static thread_local std::vector<Total> totals;
  return totals;
}

struct DenseKind {
  CodeParams input;
  std::vector<CodePlane> planes;  // of the errors
  std::vector<double> factors;
  std::size_t first;  // where its planes are among those of all kinds
};

class DenseWeightGradient : public WeightGradient {
 public:
  DenseWeightGradient(const ConvShape& shape, std::vector<WeightKind> kinds)
      : layout_(shape), table_(microkernels()), totals_(caller_totals()) {
    for (WeightKind& kind : kinds) {
      kinds_.push_back({kind.input, planes_of(kind.errors), std::move(kind.factors), planes_});
      planes_ += kinds_.back().planes.size();
    }
    if (totals_.size() < planes_) totals_.resize(planes_);
    for (std::size_t p = 0; p < planes_; ++p) {
      totals_[p].start(static_cast<std::size_t>(omp_get_max_threads()));
    }
  }

  int parcel() const override { return layout_.parcel; }

  void enter() override {
    std::vector<Accumulator>& own = thread_sums().planes;
    if (own.size() < planes_) own.resize(planes_);
    for (std::size_t p = 0; p < planes_; ++p) {
      own[p].clear(layout_);
      totals_[p].join(static_cast<std::size_t>(omp_get_thread_num()), own[p]);
    }
  }

  // The codes of all images in each plane of the errors follow those in the plane before.
  void add(std::size_t kind, int images, const std::uint8_t* input,
           const std::uint8_t* errors) override {
    const std::ptrdiff_t input_bytes = layout_.shape.input_grid().image_bytes();
    const std::ptrdiff_t error_bytes = layout_.shape.error_grid().image_bytes();
    for (int n = 0; n < images; n += layout_.parcel) {
      const Codes in{input + n * input_bytes, kinds_[kind].input};
      for (int band = 0; band < layout_.bands; ++band) {
        BandWork work(layout_, table_, in, thread_sums().band, std::min(layout_.parcel, images - n),
                      band);
        std::vector<BandPlane> planes =
            planes_at(kinds_[kind], errors + n * error_bytes, images * error_bytes);
        for (const BandPlane& plane : planes) make_room(plane, in.params, work.pixels());
        work.run(planes);
      }
    }
  }

  void finish(std::span<float> gradient) override {
    std::vector<KindTotal> kinds;
    for (const DenseKind& kind : kinds_) kinds.push_back(total_of(kind));
#pragma omp for collapse(2) schedule(static)
    for (int panel = 0; panel < layout_.output_panels; ++panel) {
      for (int column = 0; column < layout_.column_panels * layout_.shape.kernel; ++column) {
        integer::finish({layout_, column, panel}, kinds, gradient);
      }
    }
  }

 private:
  std::vector<BandPlane> planes_at(const DenseKind& kind, const std::uint8_t* errors,
                                   std::ptrdiff_t plane_bytes) const {
    ThreadSums& own = thread_sums();
    std::vector<BandPlane> planes;
    for (std::size_t p = 0; p < kind.planes.size(); ++p) {
      const Codes codes{errors + static_cast<std::ptrdiff_t>(p) * plane_bytes,
                        kind.planes[p].params};
      planes.push_back({codes, own.planes[kind.first + p], own.band.planes[p], kind.first + p,
                        codes.params.zero_point});
    }
    return planes;
  }

  void make_room(const BandPlane& plane, const CodeParams& input, std::int64_t pixels) {
    if (plane.sums.pixels + pixels > tile_limit(input, plane.errors.params)) {
#pragma omp critical(bitcycle_weight_gradient)
      totals_[plane.index].empty(plane.sums, layout_);
    }
    plane.sums.pixels += pixels;
  }

  KindTotal total_of(const DenseKind& kind) const {
    KindTotal total{{}, kind.factors};
    for (std::size_t p = 0; p < kind.planes.size(); ++p) {
      const CodeParams& errors = kind.planes[p].params;
      total.planes.push_back({totals_[kind.first + p],
                              {half_range(errors) - errors.zero_point, kind.input.zero_point},
                              kind.planes[p].worth});
    }
    return total;
  }

  Layout layout_;
  const Microkernels& table_;
  std::vector<DenseKind> kinds_;
  std::size_t planes_ = 0;  // of all kinds
  std::vector<Total>& totals_;
};

}  // namespace

std::unique_ptr<WeightGradient> dense_weight_gradient(const ConvShape& shape,
                                                      std::vector<WeightKind> kinds) {
  return std::make_unique<DenseWeightGradient>(shape, std::move(kinds));
}

}  // namespace bitcycle::integer
