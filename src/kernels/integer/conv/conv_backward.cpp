// The two backward products in terms of the shared drivers, a few images at a time. Note [Integer
// scheme] in docs/numerics.md has the equations.

#include "bitcycle/base/error.h"
#include "bitcycle/kernels/integer/conv.h"
#include "bitcycle/kernels/integer/domain.h"

#include "kernels/integer/codes/codes_at_hand.h"
#include "kernels/integer/conv/conv_grouped.h"
#include "kernels/integer/conv/weight_gradient.h"
#include "kernels/integer/gather/gather.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>

#include <omp.h>

namespace bitcycle::integer {
namespace {

// Backward-data as a gather, with the arrays that it points to.
class DataGather {
 public:
  DataGather(const ConvBackward& call)
      : offsets_(to_panels(call.weights.offsets(), call.shape.out_channels)),
        ones_(channels(call), 1.0f),
        scales_(channels(call), call.errors.params.scale),
        run_(gather(call)) {}

  GatherRun& run() { return run_; }

 private:
  static std::size_t channels(const ConvBackward& call) {
    return static_cast<std::size_t>(padded(call.shape.in_channels));
  }
  // Depthwise: the offset belongs to the channel. Dense: it belongs to the summed-over channel, so
  // it weighs the codes in the box sum, which all results then share.
  Gather gather(const ConvBackward& call) const {
    const ConvShape& shape = call.shape;
    const bool depthwise = shape.depthwise();
    return {.grid = shape.error_grid(),
            .params = call.errors.params,
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
            .stats = nullptr};
  }

  std::vector<float> offsets_, ones_, scales_;
  GatherRun run_;
};

std::vector<double> weight_factors(const ConvBackward& call) {
  std::vector<double> factors;
  const float error_scale = call.errors.params.scale / call.error_divisor;
  for (const float scale : call.weights.scales()) {
    factors.push_back(double{call.input.params.scale} * error_scale / scale);
  }
  return factors;
}

void backward_in_groups(const ConvBackward& call) {
  const InMemory errors(call.errors, call.shape.error_grid());
  if (call.input_gradient) {
    grouped_backward_data(call.shape, errors.codes(), call.weights, call.input_gradient);
  }
  for (int n = 0; call.after_image && n < call.shape.batch; ++n) call.after_image(n);
  if (call.weight_gradient.empty()) return;
  const InMemory input(call.input, call.shape.input_grid());
  grouped_weight_gradient(call.shape, input.codes(), errors.codes(), weight_factors(call),
                          call.weight_gradient);
}

int whole(int count, int unit) {
  return (count + unit - 1) / unit * unit;
}

// As many images as are `best` taken at once, as long as every thread gets its share, in whole
// parcels. No result depends on it.
int images_of_an_item(int batch, int best, int parcel) {
  const int items = whole(std::max(1, batch / best), omp_get_max_threads());
  return whole((batch + items - 1) / items, parcel);
}

// Both products of the batch, a few images an item.
class BackwardRun {
 public:
  BackwardRun(const ConvBackward& call) : call_(call) {
    int best = 1, parcel = 1;
    if (call.input_gradient) {
      data_.emplace(call);
      parcel = data_->run().parcel();
    }
    if (!call.weight_gradient.empty()) {
      const auto make = call.shape.depthwise() ? depthwise_weight_gradient : dense_weight_gradient;
      weights_ = make(call.shape, call.input.params, call.errors.params);
      factors_ = weight_factors(call);
      best = weights_->parcel();
    }
    images_ = images_of_an_item(call.shape.batch, std::max(best, parcel), parcel);
  }

  void run() {
#pragma omp parallel
    {
      if (weights_ != nullptr) weights_->enter();
#pragma omp for schedule(dynamic, 1)
      for (int image = 0; image < call_.shape.batch; image += images_) {
        run_item(image, std::min(images_, call_.shape.batch - image));
      }
      if (weights_ != nullptr) weights_->finish(factors_, call_.weight_gradient);
    }
  }

 private:
  void run_item(int image, int images) {
    ThreadCodes& own = thread_codes();
    const std::uint8_t* errors =
        at_hand(call_.errors, call_.shape.error_grid(), image, images, own.errors);
    if (data_) data_->run().run(image, images, errors);
    for (int n = image; call_.after_image && n < image + images; ++n) call_.after_image(n);
    if (weights_ == nullptr) return;
    weights_->add(images, at_hand(call_.input, call_.shape.input_grid(), image, images, own.input),
                  errors);
  }

  const ConvBackward& call_;
  std::optional<DataGather> data_;
  std::unique_ptr<WeightGradient> weights_;
  std::vector<double> factors_;
  int images_ = 1;
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
