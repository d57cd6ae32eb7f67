#pragma once

// What gates are trained for besides the task (FracTrain, section 3.2): a cost, and a target that
// it is steered to. The loss of a step is
//
//   cross-entropy + r R,   R = beta / mean(w) * sum over samples and blocks of w_l * cost(choice)
//
// where cost() adds up the three products of a layer, each as a fraction of one of 32-bit operands.
// r is -1 where the choices of the batch cost less than the target, so that the loss rewards cost,
// and 1 where they cost more. What they cost is the compute percentage
//
//   cp = 100 * sum of w_l * cost(choice) / (3 * samples * sum of w_l)
//
// Stem, classifier, projections in float and gates are not part of it.

#include "bitcycle/config/recipe.h"
#include "bitcycle/network/layer_info.h"

#include <span>
#include <vector>

namespace bitcycle {

// Fractions of a product of two 32-bit operands.
struct OptionCost {
  double forward = 0;          // a W / 32^2
  double error = 0;            // g W / 32^2
  double weight_gradient = 0;  // a g / 32^2
  double total() const { return forward + error + weight_gradient; }
};
// Nothing, where the option skips the block.
OptionCost option_cost(PrecisionOption option, int weight_bits);

// At which depthwise convolutions of a gated network are held: no gate chooses for them.
inline constexpr PrecisionOption kDepthwiseBits{8, 16};

// How much each block counts. In residual networks all count 1, whatever their size. In networks
// with depthwise convolutions a block counts its gated convolutions' operations (two for each
// multiply-accumulate) and the depthwise ones add a constant, which here stands in the denominator
// in full precision and in the numerator at the bits that they have; the authors' code has it at
// 8-bit weights in both.
struct BlockWeights {
  std::vector<double> blocks;
  double depthwise = 0;

  double sum() const;
  double mean() const;
};
// Of the layers of a network with gates.
BlockWeights block_weights(std::span<const LayerInfo> layers);

// How many samples of a batch chose each option, by block and option.
using ChoiceCounts = std::vector<std::vector<double>>;

class GateObjective {
 public:
  // The recipe makes sense (dynamic_policy.h).
  GateObjective(const DynamicRecipe& recipe, BlockWeights weights);

  const BlockWeights& weights() const { return weights_; }
  // Of each option, all three products.
  const std::vector<double>& costs() const { return costs_; }
  // In percent: cp of a batch whose samples have all chosen that option everywhere.
  double cp(std::size_t option) const;
  double cp(const ChoiceCounts& counts) const;
  double least_cp() const;
  double most_cp() const;

  // beta / mean(w), by which the sum over samples and blocks is multiplied.
  double coefficient() const;
  double regulariser(const ChoiceCounts& counts) const;

 private:
  // The sum over blocks of one sample that costs `blocks` there, as cp.
  double percent(double blocks) const;
  double weighted_sum(const ChoiceCounts& counts) const;

  double beta_;
  BlockWeights weights_;
  std::vector<double> costs_;
  double depthwise_cost_;
};

// The sign r, and how strongly. Within `band_width` of the target a soft band steers a tenth as
// strongly, to the side where cp lies; a flat one reaches from the target to `band_width` above it,
// and leaves cp alone there.
double steering(const DynamicRecipe& recipe, double cp, double target);

// What to multiply R by so that it stays a tenth of the cross-entropy or less.
double ada_beta_factor(double regulariser, double cross_entropy);

}  // namespace bitcycle
