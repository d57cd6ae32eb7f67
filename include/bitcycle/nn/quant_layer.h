#pragma once

// What every quantized layer has in common: a precision slot that a controller writes before each
// step, the scheme, and the running range of its input. Bits are not passed through forward(), so a
// quantized layer drops into any model. A layer may be called several times in a step (the time
// steps of an LSTM, parts of a batch): each call draws noise of its own, and all of them together
// move the running range once, by the union of their ranges.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/quantize.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/nn/execution.h"
#include "bitcycle/nn/running_range.h"
#include "bitcycle/quant/layer_function.h"
#include "bitcycle/quant/scheme.h"
#include "bitcycle/quant/unit_tensor.h"

#include <memory>
#include <optional>
#include <string_view>

namespace bitcycle {

class QuantLayer : public SchemeUser {
 public:
  QuantLayer();

  // The precision slot: bits by role, and the key of this step's stochastic rounding. Starts a
  // step: the count of its calls, and the range of its inputs.
  void set_precision(LayerBits bits, RandomKey step_key);
  // For gates, which decide within a step, while the model runs: the bits of the calls to come, the
  // same for all samples or those of each. Bits are then the widest of them.
  void choose(LayerBits bits);
  void choose(std::shared_ptr<const SampleChoice> choice, std::int64_t samples);
  // Lets go of a choice once its calls are done; it holds a part of the graph.
  void forget_choice() { choice_.reset(); }
  LayerBits bits() const { return bits_; }
  // Null: all samples have the same bits.
  const std::shared_ptr<const SampleChoice>& choice() const { return choice_; }
  // What samples have had since the step began, where bits were chosen for each.
  std::optional<Mixture> mixture() const;

  // Starts in SBM. A layer that can be executed overrides this to keep the executor too.
  void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor) override {
    scheme_ = scheme;
    range_.weights = scheme->activation.average;
  }
  const std::shared_ptr<const Scheme>& shared_scheme() const { return scheme_; }
  void set_range_start(RangeStart start) { range_.start = start; }
  RangeStart range_start() const { return range_.start; }

  // From now on, what quantizing does to the layer's tensors is added up there; null: nowhere.
  void observe(std::shared_ptr<LayerStatistics> statistics) { observed_ = std::move(statistics); }
  const std::shared_ptr<LayerStatistics>& observed() const { return observed_; }

  // The range to quantize an input over, see RunningRange.
  template <typename FindRange>
  Range input_range(const FindRange& own_range, bool training) {
    return range_.of_input(own_range, training);
  }
  // A call with this input that is simulated.
  LayerCall simulated_call(const at::Tensor& x, bool training, NoiseKey noise);
  // How the last call was carried out; layers, and units around them, record it with what kept the
  // integer kernels from the call, nothing where they took it.
  const Execution& last_call() const { return last_call_; }
  void record_call(std::string obstacle);
  // The key of a call's noise. A layer that is called several times in a step (shared weights)
  // draws other noise each time.
  NoiseKey next_noise();
  // For what stands behind the layer: noise of its own for the call that was made last.
  NoiseKey noise_behind(std::string_view purpose) const;
  // The norm that is applied to the layer's output, which a unit around the two says; may be null.
  void set_norm(std::shared_ptr<torch::nn::BatchNorm2dImpl> norm) { norm_ = std::move(norm); }
  const std::shared_ptr<torch::nn::BatchNorm2dImpl>& norm_behind() const { return norm_; }
  bool in_float() const { return bits_.weight == 0 && bits_.activation == 0; }
  // How often set_precision has started a step.
  std::uint64_t steps_begun() const { return steps_begun_; }

 protected:
  // Whether no noise was drawn yet since the step began.
  bool first_call() const { return calls_ == 0; }
  // Registers the running range's buffers on the module that the layer is.
  void register_range(torch::nn::Module& module) { range_.register_on(module); }

 private:
  std::shared_ptr<const Scheme> scheme_;
  LayerBits bits_;
  Execution last_call_;
  std::shared_ptr<const SampleChoice> choice_;
  Mixture chosen_;             // in numbers of samples, since the step began
  double chosen_samples_ = 0;  // with those that skipped
  std::shared_ptr<LayerStatistics> observed_;
  RandomKey step_key_{0};
  std::uint64_t calls_ = 0;  // since the key was set
  std::uint64_t steps_begun_ = 0;
  RunningRange range_;
  std::shared_ptr<torch::nn::BatchNorm2dImpl> norm_;
};

// The bits that a pass really uses: evaluation has no errors.
inline LayerBits executed_bits(LayerBits bits, bool training) {
  return training ? bits : LayerBits{bits.weight, bits.activation, bits.activation};
}

// What keeps the integer kernels from a layer's next call, whatever its kind: executor, device,
// bits.
std::string call_obstacle(const QuantLayer& layer, Executor executor, const at::Tensor& x,
                          bool training);

// The range over which a layer that executes in integers quantizes its input.
Range unit_input_range(QuantLayer& layer, const UnitTensor& x, bool training);

}  // namespace bitcycle
