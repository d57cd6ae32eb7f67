#include "bitcycle/nn/quant_layer.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/domain.h"
#include "bitcycle/quant/integer_unit.h"
#include "bitcycle/quant/schemes.h"

namespace bitcycle {

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
  ++steps_begun_;
  range_.begin_step();
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
  if (bits_.activation == 0 || !scheme_->activation.range) return call;
  call.input_range = input_range([&] { return scheme_->activation.range(x); }, training);
  return call;
}

// Without gradients nothing is rounded stochastically, and looking at a model must not change it.
void QuantLayer::record_call(std::string obstacle) {
  using Kind = Execution::Kind;
  const Kind otherwise = in_float() ? Kind::in_float : Kind::simulated;
  last_call_ = {obstacle.empty() ? Kind::executed : otherwise, std::move(obstacle)};
}

NoiseKey QuantLayer::next_noise() {
  const std::uint64_t call = at::GradMode::is_enabled() ? calls_++ : 0;
  return noise_key(call == 0 ? step_key_ : step_key_.derive("call").derive(call));
}

NoiseKey QuantLayer::noise_behind(std::string_view purpose) const {
  return noise_key(step_key_.derive(purpose).derive(calls_));
}

// In evaluation the input's own range is not quantized over, but tells whether it is finite.
std::string call_obstacle(const QuantLayer& layer, Executor executor, const at::Tensor& x,
                          bool training) {
  if (executor == Executor::simulate) return "the executor simulate";
  if (!x.is_cpu()) return "an input on " + x.device().str();
  return integer::obstacle(executed_bits(layer.bits(), training));
}

Range unit_input_range(QuantLayer& layer, const UnitTensor& x, bool training) {
  const Range own = x.range ? *x.range : real_range(x);
  const Range range = layer.input_range([&] { return own; }, training);
  return finite(own) ? range : kPoisoned;
}

}  // namespace bitcycle
