// The two backward products in terms of the shared drivers, a few images at a time. Note [Integer
// scheme] in docs/numerics.md has the equations.

#include "bitcycle/base/error.h"
#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/kernels/integer/domain.h"

#include "kernels/integer/codes/codes_at_hand.h"
#include "kernels/integer/conv/conv_grouped.h"
#include "kernels/integer/conv/weight_gradient.h"
#include "kernels/integer/gather/gather.h"
#include "kernels/integer/passes/pass_plans.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <string>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Backward-data as a gather, with the arrays that it points to.
class DataGather {
 public:
  DataGather(const ConvBackward& call, const CodeParams& errors)
      : offsets_(to_panels(call.weights.offsets(), call.shape.out_channels)),
        ones_(channels(call), 1.0f),
        scales_(channels(call), errors.scale),
        run_(gather(call, errors)) {}

  GatherRun& run() { return run_; }

 private:
  static std::size_t channels(const ConvBackward& call) {
    return static_cast<std::size_t>(padded(call.shape.in_channels));
  }
  // Depthwise: the offset belongs to the channel. Dense: it belongs to the summed-over channel, so
  // it weighs the codes in the box sum, which all results then share.
  Gather gather(const ConvBackward& call, const CodeParams& errors) const {
    const ConvShape& shape = call.shape;
    const bool depthwise = shape.depthwise();
    return {.grid = shape.error_grid(),
            .params = errors,
            .weight_bits = call.weights.bits(),
            .phases = call.weights.state().backward,
            .stride = shape.stride,
            .out_height = shape.height,
            .out_width = shape.width,
            .box = depthwise ? Box::channel : Box::pixel,
            .box_weights = depthwise ? std::span<const float>{} : offsets_,
            .offsets = depthwise ? offsets_ : ones_,
            .scales = scales_,
            .output = call.input_gradient,
            .stats = nullptr,
            .parcels = call.images.empty() ? Parcels::full : Parcels::single};
  }

  std::vector<float> offsets_, ones_, scales_;
  GatherRun run_;
};

// Backward-data of errors of any width: each plane is gathered; the sum of two is rounded once.
class DataProduct {
 public:
  DataProduct(const ConvBackward& call)
      : call_(call), errors_(planes_of(call.errors.params)), first_(call, errors_[0].params) {
    if (errors_.size() > 1) low_.emplace(call, errors_[1].params);
  }

  int parcel() { return first_.run().parcel(); }
  // Images of a parcel follow each other. The low codes of all these images follow the high ones.
  void run(std::span<const int> images, const std::uint8_t* errors) {
    const std::ptrdiff_t each = call_.shape.error_grid().image_bytes();
    const auto count = static_cast<int>(images.size());
    for (int i = 0; i < count; i += parcel()) {
      const int image = images[static_cast<std::size_t>(i)], some = std::min(parcel(), count - i);
      const std::uint8_t* high = errors + i * each;
      low_ ? run_wide(image, some, high, high + count * each) : first_.run().run(image, some, high);
    }
  }

 private:
  void run_wide(int image, int images, const std::uint8_t* high, const std::uint8_t* low) {
    const CodeGrid grid = call_.shape.input_grid();
    const auto count = static_cast<std::size_t>(images * image_elements(grid));
    PlaneValues& own = thread_plane_values();
    first_.run().run_into(own.high.reserve(count), images, high);
    low_->run().run_into(own.low.reserve(count), images, low);
    passes().add_planes[index(call_.input_gradient.type)](
        own.high.data(), own.low.data(), static_cast<std::ptrdiff_t>(count),
        image_of(call_.input_gradient, grid, image));
  }

  struct PlaneValues {
    AlignedBuffer<float> high, low;
  };
  static PlaneValues& thread_plane_values() {
    static thread_local PlaneValues values;
    return values;
  }

  const ConvBackward& call_;
  std::vector<CodePlane> errors_;
  DataGather first_;
  std::optional<DataGather> low_;
};

std::vector<double> weight_factors(const ConvBackward& call) {
  std::vector<double> factors;
  const float error_scale = call.errors.params.scale / call.error_divisor;
  for (const float scale : call.weights.scales()) {
    factors.push_back(double{call.input.params.scale} * error_scale / scale);
  }
  return factors;
}

std::vector<int> images_of(const ConvBackward& call) {
  if (!call.images.empty()) return {call.images.begin(), call.images.end()};
  std::vector<int> all(static_cast<std::size_t>(call.shape.batch));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void backward_in_groups(const ConvBackward& call) {
  const std::vector<int> images = images_of(call);
  const InMemory errors(call.errors, call.shape.error_grid(), images);
  if (call.input_gradient) {
    grouped_backward_data(call.shape, errors.codes(), images, call.weights, call.input_gradient);
  }
  for (const int n : images) {
    if (call.after_image) call.after_image(n);
  }
  if (call.weight_gradient.empty()) return;
  const InMemory input(call.input, call.shape.input_grid(), images);
  grouped_weight_gradient(call.shape, input.codes(), errors.codes(), images, weight_factors(call),
                          call.weight_gradient);
}

int whole(int count, int unit) {
  return (count + unit - 1) / unit * unit;
}

// Work items of about as many images as are `best` taken at once, as long as every thread gets its
// share: even ones, in whole parcels. No result depends on it.
struct Items {
  int images;
  int parcel;
  int count;

  Items(int all, int best, int at_once)
      : images(all),
        parcel(at_once),
        count(whole(std::max(1, all / best), omp_get_max_threads())) {}
  int first(int item) const {
    const int parcels = (images + parcel - 1) / parcel;
    return std::min(images, item * parcels / count * parcel);
  }
};

// Both products of the images, a few of them an item.
class BackwardRun {
 public:
  BackwardRun(const ConvBackward& call) : call_(call), images_(images_of(call)) {
    int best = 1;
    if (call.input_gradient) {
      data_.emplace(call);
      parcel_ = data_->parcel();
    }
    if (!call.weight_gradient.empty()) {
      const auto make = call.shape.depthwise() ? depthwise_weight_gradient : dense_weight_gradient;
      weights_ = make(call.shape, call.input.params, call.errors.params);
      factors_ = weight_factors(call);
      best = weights_->parcel();
    }
    best_ = std::max(best, parcel_);
  }

  void run() {
    const Items items(static_cast<int>(images_.size()), best_, parcel_);
#pragma omp parallel
    {
      if (weights_ != nullptr) weights_->enter();
#pragma omp for schedule(dynamic, 1)
      for (int item = 0; item < items.count; ++item) {
        const auto first = static_cast<std::size_t>(items.first(item));
        const auto last = static_cast<std::size_t>(items.first(item + 1));
        if (first < last) run_item(std::span(images_).subspan(first, last - first));
      }
      if (weights_ != nullptr) weights_->finish(factors_, call_.weight_gradient);
    }
  }

 private:
  void run_item(std::span<const int> images) {
    ThreadCodes& own = thread_codes();
    const std::uint8_t* errors =
        at_hand(call_.errors, call_.shape.error_grid(), images, own.errors);
    if (data_) data_->run(images, errors);
    for (const int n : images) {
      if (call_.after_image) call_.after_image(n);
    }
    if (weights_ == nullptr) return;
    weights_->add(static_cast<int>(images.size()),
                  at_hand(call_.input, call_.shape.input_grid(), images, own.input), errors);
  }

  const ConvBackward& call_;
  std::vector<int> images_;
  std::optional<DataProduct> data_;
  std::unique_ptr<WeightGradient> weights_;
  std::vector<double> factors_;
  int parcel_ = 1;
  int best_ = 1;
};

void backward_and_add(const ConvBackward& call) {
  static thread_local AlignedBuffer<float> buffer;
  const std::size_t size = call.weight_gradient.size();
  float* own = buffer.reserve(size);
  ConvBackward replacing = call;
  replacing.weight_gradient = {own, size};
  replacing.accumulate = Accumulate::replace;
  conv_backward(replacing);
  float* sum = call.weight_gradient.data();
  for (std::size_t i = 0; i < size; ++i) sum[i] += own[i];
}

}  // namespace

void conv_backward(const ConvBackward& call) {
  expect_taken(call.shape);
  assert(call.weight_gradient.empty() ||
         static_cast<std::int64_t>(call.weight_gradient.size()) == call.shape.weights());
  if (call.accumulate == Accumulate::add) return backward_and_add(call);
  if (in_groups(call.shape)) return backward_in_groups(call);
  BackwardRun(call).run();
}

}  // namespace bitcycle::integer
