#include "bitcycle/config/chosen_bits.h"

#include <algorithm>
#include <cassert>

namespace bitcycle {
namespace {

// Computed are all options for every sample, whatever it chose. Beside a skipped block projections
// are in float.
Mixture candidates_of(const DynamicPolicy& policy, const LayerInfo& layer) {
  Mixture mixture;
  for (const PrecisionOption& option : policy.options()) {
    if (option.skips() && !matches(layer, "@projection")) continue;
    mixture.add(option.skips() ? LayerBits{} : policy.bits_of(option), 1);
  }
  return mixture;
}

// What the samples of a block have in one of its layers.
Mixture mixture_of(const DynamicPolicy& policy, const LayerInfo& layer, LayerBits dearest,
                   const std::vector<double>& shares) {
  if (policy.recipe().form == DynamicRecipe::Form::all_candidates) {
    return candidates_of(policy, layer);
  }
  Mixture mixture;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const PrecisionOption option = policy.options()[k];
    if (option.skips() && !matches(layer, "@projection")) continue;
    mixture.add(option.skips() ? dearest : policy.bits_of(option), shares[k]);
  }
  return mixture;
}

}  // namespace

ChosenBits chosen_bits(const DynamicRecipe& recipe, const std::vector<double>& shares) {
  assert(shares.size() == recipe.options.size());
  ChosenBits chosen{.bits = {.weight = static_cast<double>(*recipe.weight)}};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const PrecisionOption& option = recipe.options[i];
    chosen.bits.activation += shares[i] * option.activation;
    chosen.bits.error += shares[i] * option.error;
    if (option.skips()) chosen.skipped += shares[i];
  }
  return chosen;
}

ChosenBits chosen_bits(const DynamicRecipe& recipe, const BlockShares& blocks) {
  assert(!blocks.empty());
  ChosenBits mean{.bits = {.weight = static_cast<double>(*recipe.weight)}};
  const auto number = static_cast<double>(blocks.size());
  for (const std::vector<double>& block : blocks) {
    const ChosenBits own = chosen_bits(recipe, block);
    mean.bits.activation += own.bits.activation / number;
    mean.bits.error += own.bits.error / number;
    mean.skipped += own.skipped / number;
  }
  return mean;
}

StepBits chosen_step(const DynamicPolicy& policy, const BlockShares& blocks) {
  assert(fits(blocks, policy.recipe()));
  StepBits bits = policy.decide(0);
  for (std::size_t i = 0; i < bits.layers.size(); ++i) {
    const LayerInfo& layer = policy.layers()[i];
    if (layer.block < 0) continue;
    bits.mixtures[i] =
        mixture_of(policy, layer, bits.common, blocks[static_cast<std::size_t>(layer.block)]);
  }
  return bits;
}

MeanOfChoices mean_of_choices(const PrecisionRecipe& recipe) {
  if (!recipe.dynamic) return {};
  return [gates = *recipe.dynamic](const BlockShares& blocks) {
    return chosen_bits(gates, blocks).bits;
  };
}

bool fits(const BlockShares& blocks, const DynamicRecipe& recipe) {
  return !blocks.empty() && std::ranges::all_of(blocks, [&](const std::vector<double>& block) {
    return block.size() == recipe.options.size();
  });
}

}  // namespace bitcycle
