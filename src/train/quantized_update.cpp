#include "train/quantized_update.h"

#include "bitcycle/nn/quant_layer.h"

#include <map>

namespace bitcycle {
namespace {

struct Owner {
  const QuantLayer* layer;
  ParameterUpdate::Role role;
};

// By the tensor, since a unit's parameters are registered where their names say.
std::map<const void*, Owner> owners_in(const torch::nn::Module& model) {
  using Role = ParameterUpdate::Role;
  std::map<const void*, Owner> owners;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    const auto* layer = dynamic_cast<const QuantLayer*>(module.get());
    if (layer == nullptr) continue;
    const auto own = module->named_parameters(/*recurse=*/false);
    if (const at::Tensor* weight = own.find("weight")) {
      owners[weight->unsafeGetTensorImpl()] = {layer, Role::weight};
    }
    if (layer->norm_behind() == nullptr) continue;
    for (const at::Tensor& parameter : layer->norm_behind()->parameters()) {
      owners[parameter.unsafeGetTensorImpl()] = {layer, Role::norm};
    }
  }
  return owners;
}

}  // namespace

void find_owners(const torch::nn::Module& model, std::vector<OptimizerSlot>& slots) {
  const auto owners = owners_in(model);
  for (OptimizerSlot& slot : slots) {
    const auto owner = owners.find(slot.parameter.unsafeGetTensorImpl());
    if (owner == owners.end()) continue;
    slot.layer = owner->second.layer;
    slot.role = owner->second.role;
  }
}

bool is_quantized(const OptimizerSlot& slot) {
  return slot.layer != nullptr && !slot.layer->in_float();
}

// Without bits for errors, gradients are in float, and what they move is still the scheme's.
void quantized_sgd(OptimizerSlot& slot, const UpdateStep& step, const UpdateQuantizer& quantizers,
                   double progress) {
  add_l2_penalty(slot);
  const int bits = slot.layer->bits().error;
  if (bits != 0 && quantizers.gradient) {
    const NoiseKey noise = slot.layer->noise_behind("update");
    slot.parameter.mutable_grad() =
        quantizers.gradient(slot.parameter.grad(), {slot.role, bits, progress, noise});
  }
  update_momentum(slot, step.recipe.momentum);
  if (quantizers.momentum) slot.first.copy_(quantizers.momentum(slot.first));
  slot.parameter.add_(slot.first, -step.lr);
  if (quantizers.parameter) slot.parameter.copy_(quantizers.parameter(slot.parameter));
}

void quantize_start(torch::nn::Module& model, const UpdateQuantizer& quantizers,
                    const PrecisionPolicy& policy) {
  if (!quantizers.start) return;
  const torch::NoGradGuard no_grad;
  const std::vector<LayerWidths> widths = policy.widths();
  auto parameters = model.named_parameters();
  for (std::size_t i = 0; i < widths.size(); ++i) {
    at::Tensor* weight = parameters.find(policy.layers()[i].name + ".weight");
    if (weight == nullptr || widths[i].weight.max == 0) continue;
    weight->copy_(quantizers.start(*weight));
  }
}

}  // namespace bitcycle
