#pragma once

// Modelled energy of training, from Horowitz's table of energies in a 45 nm process ("Computing's
// energy problem", ISSCC 2014), scaled by width. A model of operations and of traffic to memory,
// not a measurement and not a machine; docs/cost.md has the rules and every constant.

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/layer_info.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bitcycle {

// Horowitz's figures, in picojoules.
namespace horowitz {
inline constexpr double kMultiplyInt8 = 0.2;
inline constexpr double kAddInt32 = 0.1;
inline constexpr double kMultiplyFloat32 = 3.7;
inline constexpr double kAddFloat32 = 0.9;
inline constexpr double kDram64 = (1300.0 + 2600.0) / 2;  // 64 bits; he gives 1.3 to 2.6 nJ
}  // namespace horowitz

// Of a multiplication, of `m` by `n` bits, and the addition of its product to a sum of 32 bits, in
// picojoules; 0 bits stand for float.
double mac_picojoules(int m, int n);
// Of a bit that goes to memory or comes from it.
double memory_picojoules_per_bit();

// FracTrain's unit: bit operations in multiply-accumulates of 32 by 32 bits.
constexpr double normalised_macs(double bitops) {
  return bitops / (32 * 32);
}

// In joules, by pass.
struct Energy {
  PassCost operations;
  PassCost memory;

  PassCost passes() const;
  double total() const { return operations.total() + memory.total(); }
  Energy& operator+=(const Energy& other);
  Energy operator*(double factor) const;
};

class EnergyModel {
 public:
  explicit EnergyModel(const std::vector<LayerInfo>& layers);

  // Of a step on `work` samples or tokens; `bits` has one entry for each layer, as it is executed.
  Energy step(std::span<const LayerBits> bits, std::int64_t work) const;
  // The same where samples had bits of their own in some layers: these compute and move for the
  // samples that were there, and their weights once.
  Energy step(std::span<const LayerBits> bits, const LayerMixtures& mixtures,
              std::int64_t work) const;
  // The same with every layer at `bits` but those that the model keeps in float.
  Energy step(LayerBits bits, std::int64_t work) const;

 private:
  // What a layer computes and moves: weights once in a step, the rest per unit of work.
  struct Traffic {
    double macs = 0, weights = 0, inputs = 0, outputs = 0;
    bool error_pass = true;
    LayerPrecision precision = LayerPrecision::scheduled;
  };
  static Traffic traffic_of(const LayerInfo& layer);
  static Energy step(const Traffic& layer, LayerBits bits, double work);
  static Energy step(Traffic layer, const Mixture& mixture, double work);

  std::vector<Traffic> layers_;
};

}  // namespace bitcycle
