#include "bitcycle/models/precision_controller.h"

#include "bitcycle/nn/quant_conv.h"

namespace bitcycle {
namespace {

bool is_depthwise(const torch::nn::Module& module) {
  const auto* conv = dynamic_cast<const QuantConv2dImpl*>(&module);
  return conv != nullptr && conv->options.groups() > 1 &&
         conv->options.groups() == conv->options.in_channels();
}

}  // namespace

std::vector<PlannedLayer> planned_layers(const torch::nn::Module& model) {
  std::vector<PlannedLayer> layers;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    if (dynamic_cast<const QuantLayer*>(item.value().get()) == nullptr) continue;
    layers.push_back({item.key(), is_depthwise(*item.value()), LayerPrecision::scheduled});
  }
  return layers;
}

PrecisionController::PrecisionController(torch::nn::Module& model, PrecisionPlan plan,
                                         std::uint64_t seed)
    : plan_(std::move(plan)) {
  const auto modules = model.named_modules("", /*include_self=*/false);
  const RandomKey key = RandomKey(seed).derive("rounding");
  for (const PlannedLayer& planned : plan_.layers()) {
    const auto* module = modules.find(planned.name);
    auto* layer = module == nullptr ? nullptr : dynamic_cast<QuantLayer*>(module->get());
    TORCH_CHECK(layer != nullptr, "the model has no quantized layer named \"", planned.name, "\"");
    targets_.push_back({layer, key.derive(planned.name)});
  }
}

void PrecisionController::apply(Step step) {
  set(plan_.at(step), step);
}

void PrecisionController::apply(const EvaluationBits& bits, Step step) {
  set(plan_.evaluation(bits, step), step);
}

void PrecisionController::set_range_start(RangeStart start) {
  for (Target& target : targets_) target.layer->set_range_start(start);
}

void PrecisionController::set(const std::vector<LayerBits>& bits, Step step) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    targets_[i].layer->set_precision(bits[i], targets_[i].key.derive(step));
  }
}

}  // namespace bitcycle
