#include "bitcycle/nn/quant_layer.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/domain.h"
#include "bitcycle/quant/integer_unit.h"
#include "bitcycle/quant/schemes.h"

#include <algorithm>

namespace bitcycle {
namespace {

constexpr float kKeep = 0.9f;  // weight of the past in the running range
constexpr float kTake = 0.1f;

// What is not finite stays so.
Range united(Range a, Range b) {
  if (!finite(a) || !finite(b)) return kPoisoned;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace

QuantLayer::QuantLayer() {
  static const auto sbm = std::make_shared<const Scheme>(sbm_scheme());
  scheme_ = sbm;
}

void QuantLayer::set_precision(LayerBits bits, RandomKey step_key) {
  bits_ = bits;
  choice_.reset();
  chosen_ = {};
  chosen_samples_ = 0;
  step_key_ = step_key;
  calls_ = 0;
  step_.reset();
}

void QuantLayer::choose(LayerBits bits) {
  bits_ = bits;
  choice_.reset();
}

void QuantLayer::choose(std::shared_ptr<const SampleChoice> choice, std::int64_t samples) {
  bits_ = choice->widest();
  chosen_samples_ += static_cast<double>(samples);
  for (const int option : choice->of_sample) {
    chosen_.add(choice->options[static_cast<std::size_t>(option)], 1);
  }
  choice_ = std::move(choice);
}

std::optional<Mixture> QuantLayer::mixture() const {
  if (chosen_samples_ == 0) return {};
  Mixture result = chosen_;
  for (double& share : result.shares) share /= chosen_samples_;
  return result;
}

LayerCall QuantLayer::simulated_call(const at::Tensor& x, bool training, NoiseKey noise) {
  LayerCall call{bits_, {}, noise, scheme_, choice_, observed_};
  if (bits_.activation == 0) return call;
  call.input_range = input_range([&] { return scheme_->activation.range(x); }, training);
  return call;
}

// Without gradients nothing is rounded stochastically, and looking at a model must not change it.
void QuantLayer::record_call(std::string obstacle) {
  using Kind = Execution::Kind;
  const bool in_float = bits_.weight == 0 && bits_.activation == 0;
  const Kind otherwise = in_float ? Kind::in_float : Kind::simulated;
  last_call_ = {obstacle.empty() ? Kind::executed : otherwise, std::move(obstacle)};
}

NoiseKey QuantLayer::next_noise() {
  const std::uint64_t call = at::GradMode::is_enabled() ? calls_++ : 0;
  return noise_key(call == 0 ? step_key_ : step_key_.derive("call").derive(call));
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
  if (step_) {
    range = united(step_->inputs, range);
  } else {
    step_ = TrackedStep{running_range_.item<float>(), running_zero_.item<float>(),
                        steps_tracked_.item<std::int64_t>()};
  }
  step_->inputs = range;
  if (step_->steps == 0 && range_start_ == RangeStart::first_batch) {
    running_range_.fill_(range.high - range.low);
    running_zero_.fill_(range.low);
  } else {
    running_range_.fill_(step_->range).mul_(kKeep).add_(kTake * (range.high - range.low));
    running_zero_.fill_(step_->zero).mul_(kKeep).add_(kTake * range.low);
  }
  steps_tracked_.fill_(step_->steps + 1);
}

// In evaluation the input's own range is not quantized over, but tells whether it is finite.
std::string call_obstacle(const QuantLayer& layer, Executor executor, const at::Tensor& x,
                          bool training) {
  if (executor == Executor::simulate) return "the executor simulate";
  if (!x.is_cpu()) return "an input on " + x.device().str();
  return integer::obstacle(executed_bits(layer.bits(), training));
}

Range unit_input_range(QuantLayer& layer, const UnitTensor& x, bool training) {
  const Range own = x.range ? *x.range : real_range(x.values);
  const Range range = layer.input_range([&] { return own; }, training);
  return finite(own) ? range : kPoisoned;
}

}  // namespace bitcycle
