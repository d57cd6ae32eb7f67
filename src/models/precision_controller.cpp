#include "bitcycle/models/precision_controller.h"

#include "bitcycle/base/error.h"
#include "bitcycle/nn/quant_conv.h"
#include "bitcycle/nn/quant_linear.h"

#include <cmath>

namespace bitcycle {
namespace {

bool is_depthwise(const QuantConv2dImpl& conv) {
  return conv.options.groups() > 1 && conv.options.groups() == conv.options.in_channels();
}

LayerInfo info_of(const std::string& name, const torch::nn::Module& module) {
  LayerInfo info{.name = name};
  if (const auto* linear = dynamic_cast<const QuantLinearImpl*>(&module)) {
    info.geometry.in_channels = linear->options.in_features();
    info.geometry.out_channels = linear->options.out_features();
    info.macs = info.geometry.in_channels * info.geometry.out_channels;
  }
  const auto* conv = dynamic_cast<const QuantConv2dImpl*>(&module);
  if (conv == nullptr) return info;
  info.kind = LayerKind::convolution;
  if (is_depthwise(*conv)) info.tags = {"depthwise"};
  return info;
}

// What samples had on average in the layers where each had bits of its own, in whole bits.
LayerBits mean_of(const LayerMixtures& mixtures) {
  double all = 0, weight = 0, activation = 0, error = 0;
  for (const auto& [layer, mixture] : mixtures) {
    for (std::size_t i = 0; i < mixture.bits.size(); ++i) {
      const LayerBits& bits = mixture.bits[i];
      const double share = mixture.shares[i];
      all += share;
      weight += share * bits.weight;
      activation += share * bits.activation;
      error += share * bits.error;
    }
  }
  if (all == 0) return {};
  const auto whole = [&](double sum) { return static_cast<int>(std::lround(sum / all)); };
  return {whole(weight), whole(activation), whole(error)};
}

}  // namespace

std::vector<LayerInfo> layers_of(const torch::nn::Module& model) {
  std::vector<LayerInfo> layers;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    if (dynamic_cast<const QuantLayer*>(item.value().get()) == nullptr) continue;
    layers.push_back(info_of(item.key(), *item.value()));
  }
  return layers;
}

PrecisionController::PrecisionController(torch::nn::Module& model,
                                         const std::vector<LayerInfo>& layers, std::uint64_t seed) {
  const auto modules = model.named_modules("", /*include_self=*/false);
  const RandomKey key = RandomKey(seed).derive("rounding");
  for (const LayerInfo& info : layers) {
    const auto* module = modules.find(info.name);
    auto* layer = module == nullptr ? nullptr : dynamic_cast<QuantLayer*>(module->get());
    if (layer == nullptr && info.precision != LayerPrecision::full) {
      throw Error(ErrorCode::usage, "the model has no quantized layer named \"" + info.name + "\"",
                  "layers_of(model) lists those that it has.");
    }
    targets_.push_back({info.name, layer, key.derive(info.name)});
  }
}

void PrecisionController::apply(const StepBits& bits, Step step) {
  if (bits.layers.size() != targets_.size()) {
    throw Error(ErrorCode::usage,
                "expected bits of " + std::to_string(targets_.size()) + " layers, found those of " +
                    std::to_string(bits.layers.size()),
                "A policy decides for the layers that the controller was made with.");
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const auto& [name, layer, key] = targets_[i];
    if (layer != nullptr) layer->set_precision(bits.layers[i], key.derive(step));
  }
}

StepBits PrecisionController::executed(StepBits decided) const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const QuantLayer* layer = targets_[i].layer;
    if (layer == nullptr) continue;
    if (const auto mixture = layer->mixture()) {
      decided.mixtures[i] = *mixture;
    } else if (layer->bits() != decided.layers[i]) {
      decided.layers[i] = decided.counted[i] = layer->bits();
    }
  }
  if (!decided.mixtures.empty()) decided.common = mean_of(decided.mixtures);
  return decided;
}

void PrecisionController::begin_look() {
  for (const auto& [name, layer, key] : targets_) {
    if (layer != nullptr) layer->observe(std::make_shared<LayerStatistics>(LayerStatistics{name}));
  }
}

std::vector<LayerStatistics> PrecisionController::end_look() {
  std::vector<LayerStatistics> seen;
  for (const auto& [name, layer, key] : targets_) {
    if (layer == nullptr || layer->observed() == nullptr) continue;
    const LayerStatistics& own = *layer->observed();
    if (own.weight || own.activation || own.error) seen.push_back(own);
    layer->observe(nullptr);
  }
  return seen;
}

void PrecisionController::set_range_start(RangeStart start) {
  for (Target& target : targets_) {
    if (target.layer != nullptr) target.layer->set_range_start(start);
  }
}

}  // namespace bitcycle
