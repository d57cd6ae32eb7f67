#include "bitcycle/cost/energy.h"

#include "bitcycle/schedule/summary.h"

#include <algorithm>
#include <cassert>

namespace bitcycle {
namespace {

constexpr double kJoules = 1e-12;           // of a picojoule
constexpr double kWeightGradientBits = 32;  // it goes to a float master weight

}  // namespace

double mac_picojoules(int m, int n) {
  using namespace horowitz;
  if (m == 0 || n == 0) return kMultiplyFloat32 + kAddFloat32;
  return kMultiplyInt8 * m * n / 64 + kAddInt32;
}

double memory_picojoules_per_bit() {
  return horowitz::kDram64 / 64;
}

PassCost Energy::passes() const {
  PassCost sum = operations;
  return sum += memory;
}

Energy& Energy::operator+=(const Energy& other) {
  operations += other.operations;
  memory += other.memory;
  return *this;
}

Energy Energy::operator*(double factor) const {
  return {operations * factor, memory * factor};
}

EnergyModel::EnergyModel(const std::vector<LayerInfo>& layers) {
  for (const LayerInfo& layer : layers) layers_.push_back(traffic_of(layer));
}

// Sizes follow from the geometry: the multiply-accumulates of a sample are its weights times the
// places at which they are applied. The picture is taken to be as high as wide, before as behind.
// The second operand of a product of activations has one row for each token.
EnergyModel::Traffic EnergyModel::traffic_of(const LayerInfo& layer) {
  const LayerGeometry& g = layer.geometry;
  const auto macs = static_cast<double>(layer.macs);
  const auto in = static_cast<double>(g.in_channels), out = static_cast<double>(g.out_channels);
  const bool computed = layer.input_error == InputError::computed;
  if (layer.kind == LayerKind::product) {
    return {macs, 0, in + std::min(in, out), out, computed, layer.precision};
  }
  const double weights =
      in * out / static_cast<double>(g.groups) * static_cast<double>(g.kernel[0] * g.kernel[1]);
  const auto width = static_cast<double>(g.width);
  return {macs, weights, in * width * width, out * macs / weights, computed, layer.precision};
}

Energy EnergyModel::step(const Traffic& layer, LayerBits bits, double work) {
  const double w = counted_bits(bits.weight), a = counted_bits(bits.activation),
               e = counted_bits(bits.error);
  const double weights = layer.weights, inputs = work * layer.inputs,
               outputs = work * layer.outputs;
  Energy energy{
      .operations = {mac_picojoules(bits.weight, bits.activation),
                     mac_picojoules(bits.weight, bits.error),
                     mac_picojoules(bits.activation, bits.error)},
      .memory = {weights * w + inputs * a + outputs * a, weights * w + outputs * e + inputs * e,
                 inputs * a + outputs * e + weights * kWeightGradientBits}};
  if (!layer.error_pass) energy.operations.error = energy.memory.error = 0;
  energy.operations = energy.operations * (work * layer.macs * kJoules);
  energy.memory = energy.memory * (memory_picojoules_per_bit() * kJoules);
  return energy;
}

Energy EnergyModel::step(Traffic layer, const Mixture& mixture, double work) {
  Energy sum;
  for (std::size_t k = 0; k < mixture.bits.size(); ++k) {
    if (mixture.shares[k] <= 0) continue;
    sum += step(layer, mixture.bits[k], work * mixture.shares[k]);
    layer.weights = 0;
  }
  return sum;
}

Energy EnergyModel::step(std::span<const LayerBits> bits, std::int64_t work) const {
  return step(bits, {}, work);
}

Energy EnergyModel::step(std::span<const LayerBits> bits, const LayerMixtures& mixtures,
                         std::int64_t work) const {
  assert(bits.size() == layers_.size());
  Energy sum;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto mixture = mixtures.find(i);
    const auto samples = static_cast<double>(work);
    sum += mixture == mixtures.end() ? step(layers_[i], bits[i], samples)
                                     : step(layers_[i], mixture->second, samples);
  }
  return sum;
}

Energy EnergyModel::step(LayerBits bits, std::int64_t work) const {
  std::vector<LayerBits> resolved;
  for (const Traffic& layer : layers_) {
    resolved.push_back(layer.precision == LayerPrecision::full ? LayerBits{} : bits);
  }
  return step(resolved, work);
}

}  // namespace bitcycle
