#include "bitcycle/cost/cost_model.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/schedule/summary.h"

#include <algorithm>
#include <cassert>

namespace bitcycle {
namespace {

constexpr Counting kAll[] = {Counting::paper, Counting::macs, Counting::bitcycle};

PassCost passes(std::int64_t ops, LayerBits bits) {
  const double count = static_cast<double>(ops);
  const int weight = counted_bits(bits.weight);
  const int activation = counted_bits(bits.activation);
  const int error = counted_bits(bits.error);
  return {count * weight * activation, count * weight * error, count * activation * error};
}

bool tagged(const LayerInfo& info, const char* tag) {
  return std::ranges::find(info.tags, tag) != info.tags.end();
}

CountedLayer counted(const LayerInfo& info, Counting counting) {
  return {.name = info.name,
          .macs = info.macs,
          .norm_ops = counting == Counting::macs ? 0 : info.norm_ops,
          .error_pass = counting != Counting::bitcycle || info.input_error == InputError::computed,
          .precision = info.precision,
          .block = info.block,
          .gate = tagged(info, "gate")};
}

}  // namespace

std::string_view name(Counting counting) {
  switch (counting) {
    case Counting::paper:
      return "paper";
    case Counting::macs:
      return "macs";
    case Counting::bitcycle:
      return "bitcycle";
  }
  return "unknown";
}

std::string_view summary(Counting counting) {
  switch (counting) {
    case Counting::paper:
      return "every layer at the scheduled bits, batch norm 2 ops an element";
    case Counting::macs:
      return "convolutions and linear layers at the scheduled bits, nothing else";
    case Counting::bitcycle:
      return "float layers and batch norm at 32 bits, no error pass into the image";
  }
  return "unknown";
}

std::vector<std::string> counting_names() {
  std::vector<std::string> names;
  for (const Counting counting : kAll) names.emplace_back(name(counting));
  return names;
}

Counting counting_by_name(std::string_view wanted) {
  for (const Counting counting : kAll) {
    if (name(counting) == wanted) return counting;
  }
  throw Error(ErrorCode::usage, "there is no counting rule \"" + std::string(wanted) + "\"",
              suggest(wanted, counting_names()));
}

LayerBits layer_bits(int forward, int backward) {
  return {forward, forward, forward == 0 ? 0 : backward};
}

PassCost& PassCost::operator+=(const PassCost& other) {
  forward += other.forward;
  error += other.error;
  weight_gradient += other.weight_gradient;
  return *this;
}

PassCost PassCost::operator*(double factor) const {
  return {forward * factor, error * factor, weight_gradient * factor};
}

CostModel::CostModel(const std::vector<LayerInfo>& layers, Counting counting)
    : counting_(counting) {
  for (const LayerInfo& info : layers) layers_.push_back(counted(info, counting));
}

std::int64_t CostModel::macs() const {
  std::int64_t sum = 0;
  for (const CountedLayer& layer : layers_) sum += layer.macs;
  return sum;
}

std::int64_t CostModel::ops() const {
  std::int64_t sum = 0;
  for (const CountedLayer& layer : layers_) sum += layer.ops();
  return sum;
}

std::vector<LayerBits> CostModel::resolve(LayerBits bits) const {
  std::vector<LayerBits> resolved(layers_.size(), bits);
  if (counting_ != Counting::bitcycle) return resolved;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].precision == LayerPrecision::full) resolved[i] = LayerBits{};
  }
  return resolved;
}

PassCost CostModel::layer_cost(std::size_t layer, LayerBits bits) const {
  const CountedLayer& counted = layers_[layer];
  PassCost cost = passes(counted.macs, bits);
  if (!counted.error_pass) cost.error = 0;
  cost += passes(counted.norm_ops, counting_ == Counting::bitcycle ? LayerBits{} : bits);
  return cost;
}

PassCost CostModel::sample_cost(std::span<const LayerBits> bits) const {
  assert(bits.size() == layers_.size());
  PassCost sum;
  for (std::size_t i = 0; i < layers_.size(); ++i) sum += layer_cost(i, bits[i]);
  return sum;
}

PassCost CostModel::mixed_cost(std::size_t layer, const Mixture& mixture) const {
  assert(mixture.bits.size() == mixture.shares.size());
  PassCost sum;
  for (std::size_t k = 0; k < mixture.bits.size(); ++k) {
    sum += layer_cost(layer, mixture.bits[k]) * mixture.shares[k];
  }
  return sum;
}

PassCost CostModel::sample_cost(std::span<const LayerBits> bits,
                                const LayerMixtures& mixtures) const {
  assert(bits.size() == layers_.size());
  PassCost sum;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto mixture = mixtures.find(i);
    sum += mixture == mixtures.end() ? layer_cost(i, bits[i]) : mixed_cost(i, mixture->second);
  }
  return sum;
}

PassCost CostModel::gates_cost() const {
  PassCost sum;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (layers_[i].gate) sum += layer_cost(i, LayerBits{});
  }
  return sum;
}

}  // namespace bitcycle
