#pragma once

// What one sample costs to train, counted in bit operations: a multiply-accumulate of an m-bit by
// an n-bit operand is m n of them. A layer of a given number of multiply-accumulates ("ops") costs
//
//   forward          ops * weight bits     * activation bits
//   error            ops * weight bits     * error bits
//   weight gradient  ops * activation bits * error bits
//
// Published figures differ in what they count, so every figure names its counting rule.
// docs/cost.md has the rules and the papers' tables.

#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/layer_info.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

enum class Counting {
  paper,     // CPT's tables: every layer at the scheduled bits, batch norm as 2 ops an element
  macs,      // convolutions and linear layers alone, every one at the scheduled bits
  bitcycle,  // what Bitcycle quantizes: float layers and batch norm at 32 bits, no error pass into
             // the image
};

std::string_view name(Counting counting);
std::vector<std::string> counting_names();
// Throws Error(usage) with the nearest name.
Counting counting_by_name(std::string_view name);
// One line for people: what the rule includes.
std::string_view summary(Counting counting);

// Forward bits for weights and activations, backward bits for errors. Float forward means float
// backward, as in CPT's code; float counts as 32 bits.
LayerBits layer_bits(int forward, int backward);

// Bit operations by pass. The numbers are whole; a double holds them exactly up to 2^53 and rounds
// in the same way whenever the same sums are formed in the same order, so that a resumed run
// continues to the same total.
struct PassCost {
  double forward = 0;
  double error = 0;
  double weight_gradient = 0;

  double total() const { return forward + error + weight_gradient; }
  PassCost& operator+=(const PassCost& other);
  PassCost operator*(double factor) const;
};

// One layer, with its batch norm, as a counting rule sees it. Ops are those of one unit of work: a
// sample, a token.
struct CountedLayer {
  std::string name;
  std::int64_t macs = 0;
  std::int64_t norm_ops = 0;
  bool error_pass = true;  // whether the error of its input is computed
  LayerPrecision precision = LayerPrecision::scheduled;
  int block = -1;  // whose gate chooses its bits; -1: none
  bool gate = false;

  std::int64_t ops() const { return macs + norm_ops; }
};

class CostModel {
 public:
  CostModel(const std::vector<LayerInfo>& layers, Counting counting);

  Counting counting() const { return counting_; }
  const std::vector<CountedLayer>& layers() const { return layers_; }
  std::int64_t macs() const;
  // Everything the rule counts: multiply-accumulates and batch norm.
  std::int64_t ops() const;

  // The bits at which the rule counts each layer of a network scheduled at `bits`. A caller with
  // overrides of its own changes the result before it asks for the cost.
  std::vector<LayerBits> resolve(LayerBits bits) const;

  // The cost of one sample; `bits` has one entry a layer.
  PassCost layer_cost(std::size_t layer, LayerBits bits) const;
  PassCost sample_cost(std::span<const LayerBits> bits) const;
  PassCost sample_cost(LayerBits bits) const { return sample_cost(resolve(bits)); }
  // The mean over samples that had bits of their own: layers with a mixture count at that, linear
  // in its shares, the others at `bits`.
  PassCost sample_cost(std::span<const LayerBits> bits, const LayerMixtures& mixtures) const;
  // What gates cost in a sample, in float; part of sample_cost() where the network has them.
  PassCost gates_cost() const;

 private:
  PassCost mixed_cost(std::size_t layer, const Mixture& mixture) const;

  Counting counting_;
  std::vector<CountedLayer> layers_;
};

}  // namespace bitcycle
