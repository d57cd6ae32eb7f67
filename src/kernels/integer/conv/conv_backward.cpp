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
#include <functional>
#include <numeric>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Backward-data of one plane of a kind's errors as a gather, with the arrays that it points to.
class DataGather {
 public:
  DataGather(const ConvBackward& call, const BackwardCodes& kind, const CodeParams& errors,
             const DataGather* like)
      : offsets_(to_panels(call.weights.offsets(), call.shape.out_channels)),
        ones_(channels(call), 1.0f),
        scales_(channels(call), errors.scale),
        run_(gather(call, kind, errors), like != nullptr ? &like->run_ : nullptr) {}

  GatherRun& run() { return run_; }

 private:
  static std::size_t channels(const ConvBackward& call) {
    return static_cast<std::size_t>(padded(call.shape.in_channels));
  }
  // Depthwise: the offset belongs to the channel. Dense: it belongs to the summed-over channel, so
  // it weighs the codes in the box sum, which all results then share.
  Gather gather(const ConvBackward& call, const BackwardCodes& kind,
                const CodeParams& errors) const {
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
            .parcels = kind.images.empty() ? Parcels::full : Parcels::single};
  }

  std::vector<float> offsets_, ones_, scales_;
  GatherRun run_;
};

// Backward-data of errors of any width: each plane is gathered; the sum of two is rounded once.
class DataProduct {
 public:
  // `like` may be that of another kind of the call.
  DataProduct(const ConvBackward& call, const BackwardCodes& kind, const DataProduct* like)
      : call_(call) {
    const DataGather* first = like != nullptr ? &like->planes_.front() : nullptr;
    planes_.reserve(2);
    for (const CodePlane& plane : planes_of(kind.errors.params)) {
      planes_.emplace_back(call, kind, plane.params, first);
      first = &planes_.front();
    }
  }

  int parcel() { return planes_.front().run().parcel(); }
  // Images of a parcel follow each other. The low codes of all these images follow the high ones.
  void run(std::span<const int> images, const std::uint8_t* errors) {
    const std::ptrdiff_t each = call_.shape.error_grid().image_bytes();
    const auto count = static_cast<int>(images.size());
    for (int i = 0; i < count; i += parcel()) {
      const int image = images[static_cast<std::size_t>(i)], some = std::min(parcel(), count - i);
      const std::uint8_t* high = errors + i * each;
      planes_.size() > 1 ? run_wide(image, some, high, high + count * each)
                         : planes_.front().run().run(image, some, high);
    }
  }

 private:
  void run_wide(int image, int images, const std::uint8_t* high, const std::uint8_t* low) {
    static thread_local AlignedBuffer<float> values;  // of the high plane
    const auto count = static_cast<std::size_t>(images * image_elements(call_.shape.input_grid()));
    float* const own = values.reserve(count + kPanel);
    planes_.front().run().run_into(own, images, high);
    planes_.back().run().run_onto(own, image, low);
  }

  const ConvBackward& call_;
  std::vector<DataGather> planes_;
};

std::vector<double> weight_factors(const ConvBackward& call, const BackwardCodes& kind) {
  std::vector<double> factors;
  const float error_scale = kind.errors.params.scale / call.error_divisor;
  for (const float scale : call.weights.scales()) {
    factors.push_back(double{kind.input.params.scale} * error_scale / scale);
  }
  return factors;
}

std::vector<int> images_of(const ConvBackward& call, const BackwardCodes& kind) {
  if (!kind.images.empty()) return {kind.images.begin(), kind.images.end()};
  std::vector<int> all(static_cast<std::size_t>(call.shape.batch));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The kind's weight gradient, where one is wanted.
std::vector<float> backward_in_groups(const ConvBackward& call, const BackwardCodes& kind) {
  const std::vector<int> images = images_of(call, kind);
  const InMemory errors(kind.errors, call.shape.error_grid(), images);
  if (call.input_gradient) {
    grouped_backward_data(call.shape, errors.codes(), images, call.weights, call.input_gradient);
  }
  for (const int n : images) {
    if (call.after_image) call.after_image(n);
  }
  std::vector<float> gradient(call.weight_gradient.size());
  if (gradient.empty()) return gradient;
  const InMemory input(kind.input, call.shape.input_grid(), images);
  grouped_weight_gradient(call.shape, input.codes(), errors.codes(), images,
                          weight_factors(call, kind), gradient);
  return gradient;
}

void backward_in_groups(const ConvBackward& call) {
  for (const BackwardCodes& kind : call.kinds) {
    const std::vector<float> own = backward_in_groups(call, kind);
    const bool first = &kind == call.kinds.data();
    for (std::size_t i = 0; i < own.size(); ++i) {
      float& sum = call.weight_gradient[i];
      sum = first ? own[i] : sum + own[i];
    }
  }
}

int whole(int count, int unit) {
  return (count + unit - 1) / unit * unit;
}

// Some images of a kind.
struct Item {
  std::size_t kind;
  std::span<const int> images;
};

// Work items of about as many images as are `best` taken at once, as long as every thread gets its
// share: even ones, in whole parcels. No result depends on it.
void append_items(std::size_t kind, std::span<const int> images, int best, int parcel,
                  std::vector<Item>& items) {
  const auto all = static_cast<int>(images.size());
  const int count = whole(std::max(1, all / best), omp_get_max_threads());
  const int parcels = (all + parcel - 1) / parcel;
  const auto first = [&](int item) {
    return static_cast<std::size_t>(std::min(all, item * parcels / count * parcel));
  };
  for (int i = 0; i < count; ++i) {
    if (first(i) == first(i + 1)) continue;
    items.push_back({kind, images.subspan(first(i), first(i + 1) - first(i))});
  }
}

// Both products of the images, a few of them an item, whatever their kinds.
class BackwardRun {
 public:
  explicit BackwardRun(const ConvBackward& call) : call_(call) {
    if (call.input_gradient) gather_data();
    if (!call.weight_gradient.empty()) sum_weights();
    const int parcel = data_.empty() ? 1 : data_.front().parcel();
    const int best = std::max(weights_ == nullptr ? 1 : weights_->parcel(), parcel);
    for (const BackwardCodes& kind : call.kinds) images_.push_back(images_of(call, kind));
    for (std::size_t kind = 0; kind < images_.size(); ++kind) {
      append_items(kind, images_[kind], best, parcel, items_);
    }
    // The dearest first, so that threads end at about the same time.
    std::ranges::stable_sort(items_, std::greater{}, [&](const Item& item) {
      return is_wide(call.kinds[item.kind].errors.params);
    });
  }

  void run() {
    const auto count = static_cast<int>(items_.size());
#pragma omp parallel
    {
      if (weights_ != nullptr) weights_->enter();
#pragma omp for schedule(dynamic, 1)
      for (int item = 0; item < count; ++item) run_item(items_[static_cast<std::size_t>(item)]);
      if (weights_ != nullptr) weights_->finish(call_.weight_gradient);
    }
  }

 private:
  void gather_data() {
    const auto few_bits = [](const BackwardCodes& kind) {
      const auto planes = planes_of(kind.errors.params);
      return std::ranges::any_of(
          planes, [](const CodePlane& plane) { return plane.params.bits <= kWinogradCodeBits; });
    };
    if (std::ranges::any_of(call_.kinds, few_bits)) pack_backward_winograd(call_.weights.state());
    data_.reserve(call_.kinds.size());
    for (const BackwardCodes& kind : call_.kinds) {
      data_.emplace_back(call_, kind, data_.empty() ? nullptr : &data_.front());
    }
  }
  void sum_weights() {
    std::vector<WeightKind> kinds;
    for (const BackwardCodes& kind : call_.kinds) {
      kinds.push_back({kind.input.params, kind.errors.params, weight_factors(call_, kind)});
    }
    const auto make = call_.shape.depthwise() ? depthwise_weight_gradient : dense_weight_gradient;
    weights_ = make(call_.shape, std::move(kinds));
  }

  void run_item(const Item& item) {
    const BackwardCodes& kind = call_.kinds[item.kind];
    ThreadCodes& own = thread_codes();
    const std::uint8_t* errors =
        at_hand(kind.errors, call_.shape.error_grid(), item.images, own.errors);
    if (!data_.empty()) data_[item.kind].run(item.images, errors);
    for (const int n : item.images) {
      if (call_.after_image) call_.after_image(n);
    }
    if (weights_ == nullptr) return;
    weights_->add(item.kind, static_cast<int>(item.images.size()),
                  at_hand(kind.input, call_.shape.input_grid(), item.images, own.input), errors);
  }

  const ConvBackward& call_;
  std::vector<DataProduct> data_;  // of each kind
  std::unique_ptr<WeightGradient> weights_;
  std::vector<std::vector<int>> images_;  // of each kind
  std::vector<Item> items_;
};

}  // namespace

void conv_backward(const ConvBackward& call) {
  expect_taken(call.shape);
  assert(call.weight_gradient.empty() ||
         static_cast<std::int64_t>(call.weight_gradient.size()) == call.shape.weights());
  if (in_groups(call.shape)) return backward_in_groups(call);
  BackwardRun(call).run();
}

}  // namespace bitcycle::integer
