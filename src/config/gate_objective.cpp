#include "bitcycle/config/gate_objective.h"

#include "bitcycle/schedule/summary.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace bitcycle {
namespace {

constexpr double kFullProduct = double{kFloatBits} * kFloatBits;
constexpr double kProducts = 3;  // forward, error, weight gradient

bool is_depthwise(const LayerInfo& layer) {
  return std::ranges::find(layer.tags, "depthwise") != layer.tags.end();
}

double operations(const LayerInfo& layer) {
  return 2.0 * static_cast<double>(layer.macs);
}

}  // namespace

OptionCost option_cost(PrecisionOption option, int weight_bits) {
  const auto product = [](int a, int b) { return a * b / kFullProduct; };
  return {product(option.activation, weight_bits), product(option.error, weight_bits),
          product(option.activation, option.error)};
}

double BlockWeights::sum() const {
  return std::accumulate(blocks.begin(), blocks.end(), 0.0);
}

double BlockWeights::mean() const {
  return sum() / static_cast<double>(blocks.size());
}

BlockWeights block_weights(std::span<const LayerInfo> layers) {
  BlockWeights weights;
  for (const LayerInfo& layer : layers) {
    if (is_depthwise(layer)) weights.depthwise += operations(layer);
    if (layer.block < 0) continue;
    const auto block = static_cast<std::size_t>(layer.block);
    if (block >= weights.blocks.size()) weights.blocks.resize(block + 1);
    weights.blocks[block] += operations(layer);
  }
  if (weights.depthwise == 0) std::ranges::fill(weights.blocks, 1.0);
  return weights;
}

GateObjective::GateObjective(const DynamicRecipe& recipe, BlockWeights weights)
    : beta_(recipe.beta),
      weights_(std::move(weights)),
      depthwise_cost_(weights_.depthwise * option_cost(kDepthwiseBits, *recipe.weight).total()) {
  for (const PrecisionOption& option : recipe.options) {
    costs_.push_back(option_cost(option, *recipe.weight).total());
  }
}

double GateObjective::percent(double blocks) const {
  return 100 * (blocks + depthwise_cost_) / (kProducts * (weights_.sum() + weights_.depthwise));
}

double GateObjective::cp(std::size_t option) const {
  return percent(weights_.sum() * costs_[option]);
}

double GateObjective::weighted_sum(const ChoiceCounts& counts) const {
  assert(counts.size() == weights_.blocks.size());
  double sum = 0;
  for (std::size_t block = 0; block < counts.size(); ++block) {
    assert(counts[block].size() == costs_.size());
    sum += weights_.blocks[block] *
           std::inner_product(costs_.begin(), costs_.end(), counts[block].begin(), 0.0);
  }
  return sum;
}

double GateObjective::cp(const ChoiceCounts& counts) const {
  const auto& first = counts.front();
  const double samples = std::accumulate(first.begin(), first.end(), 0.0);
  return percent(weighted_sum(counts) / samples);
}

double GateObjective::least_cp() const {
  return percent(weights_.sum() * std::ranges::min(costs_));
}

double GateObjective::most_cp() const {
  return percent(weights_.sum() * std::ranges::max(costs_));
}

double GateObjective::coefficient() const {
  return beta_ / weights_.mean();
}

double GateObjective::regulariser(const ChoiceCounts& counts) const {
  return coefficient() * weighted_sum(counts);
}

double steering(const DynamicRecipe& recipe, double cp, double target) {
  constexpr double kSoft = 0.1;
  const bool soft = recipe.band == DynamicRecipe::Band::soft;
  if (cp >= target + recipe.band_width) return 1;
  if (cp < (soft ? target - recipe.band_width : target)) return -1;
  if (!soft) return 0;
  return cp >= target ? kSoft : -kSoft;
}

double ada_beta_factor(double regulariser, double cross_entropy) {
  constexpr double kShare = 0.1;
  const double most = kShare * cross_entropy;
  return regulariser > most ? most / regulariser : 1.0;
}

}  // namespace bitcycle
