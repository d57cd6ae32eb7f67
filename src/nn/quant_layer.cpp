#include "bitcycle/nn/quant_layer.h"

#include "bitcycle/quant/integer_unit.h"

namespace bitcycle {
namespace {

constexpr float kKeep = 0.9f;  // weight of the past in the running range
constexpr float kTake = 0.1f;

}  // namespace

void QuantLayer::set_precision(LayerBits bits, RandomKey step_key) {
  bits_ = bits;
  noise_ = noise_key(step_key);
}

void QuantLayer::register_range(torch::nn::Module& module) {
  running_range_ = module.register_buffer("running_range", at::zeros({1}));
  running_zero_ = module.register_buffer("running_zero", at::zeros({1}));
  steps_tracked_ = module.register_buffer("steps_tracked", at::zeros({1}, at::kLong));
}

bool QuantLayer::tracks() const {
  return steps_tracked_.item<std::int64_t>() > 0;
}

Range QuantLayer::running_range() const {
  const float zero = running_zero_.item<float>();
  return {zero, zero + running_range_.item<float>()};
}

void QuantLayer::track(Range range) {
  if (!tracks() && range_start_ == RangeStart::first_batch) {
    running_range_.fill_(range.high - range.low);
    running_zero_.fill_(range.low);
  } else {
    running_range_.mul_(kKeep).add_(kTake * (range.high - range.low));
    running_zero_.mul_(kKeep).add_(kTake * range.low);
  }
  steps_tracked_.add_(1);
}

Range unit_input_range(QuantLayer& layer, const UnitTensor& x, bool training) {
  return layer.input_range([&] { return x.range ? *x.range : real_range(x.values); }, training);
}

}  // namespace bitcycle
