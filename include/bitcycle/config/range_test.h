#pragma once

// Finds between which bits a cyclic schedule should move: CPT's precision range test, made to be
// stable. The paper raises the precision step by step and takes the first at which the training
// accuracy jumps. How long to stay, what to average and what a jump is, it leaves open, and
// training makes progress of that size by itself. Here blocks of steps at b bits take turns with
// blocks at the upper width, in the order top, b, b, top, and what is found is the share of what
// the top has learned that is there at b bits (paired_share.h). Pairs of blocks are added until it
// is sure that this is above or below a threshold, or there are as many as allowed: then the width
// is undecided and counts as too low, which is safe.
//
// The test knows nothing of networks: it is told after every step how much was learned there, and
// says which bits the next one has.

#include "bitcycle/config/paired_share.h"
#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"

#include <optional>
#include <vector>

namespace bitcycle {

struct RangeTestOptions {
  int from = 2, to = 8;                            // bits; from < to
  double threshold = RangeTestRecipe::kThreshold;  // of the share, for the lower bound
  std::optional<double> upper;  // likewise for the upper bound; unset: that is `to`
  double confidence = 0.99;     // at which a width is good or bad, above 0.5
  Step block = 20;              // steps, at least 2
  int pairs = 16;               // of blocks for each width at most, at least kLeastPairs
  double ready = 20;            // standard errors above chance at which the test begins; 0: at once
  Step limit = Step{1} << 40;   // steps, after which it ends undecided
};

class RangeTest {
 public:
  static constexpr int kLeastPairs = 4;  // fewer say nothing
  // Blocks in which a network that learns at all is ready to be tested.
  static constexpr Step kWarmUpBlocks = 50;

  enum class Goal { warm_up, lower, upper, schedule };
  // What is done from a step on: blocks at `low` and `high` bits in turn, or, as the goal
  // `schedule`, the schedule between these bounds.
  struct Phase {
    Step start = 0;
    Goal goal = Goal::warm_up;
    int low = 0, high = 0;
    bool operator==(const Phase&) const = default;
  };
  using Phases = std::vector<Phase>;

  enum class Judgement { good, bad, undecided };
  // What was found out about a width.
  struct Result {
    Goal goal = Goal::lower;
    int bits = 0;
    Judgement judgement = Judgement::undecided;
    PairedShare found;
    double sure = 0.5;  // that the share is on the side of the threshold on which it was found
    bool operator==(const Result&) const = default;
  };
  enum class End { not_yet, found, limit, nothing_learned };

  explicit RangeTest(const RangeTestOptions& options);

  // The bits of the next step; `to` once the test has ended.
  int bits() const;
  // What the next step gave, above what chance would: an accuracy, or a share of the loss.
  void observe(double learned);

  bool ended() const { return phases_.back().goal == Goal::schedule; }
  End end() const { return end_; }
  // The bounds; as long as nothing is known, the safe ones.
  int lower() const { return ended() ? phases_.back().low : options_.to; }
  int upper() const { return ended() ? phases_.back().high : options_.to; }
  // Whether it has ended and no width on the way to the bounds was left undecided.
  bool decided() const;
  Step steps() const { return steps_; }
  const Phases& phases() const { return phases_; }
  const std::vector<Result>& results() const { return results_; }
  const RangeTestOptions& options() const { return options_; }

  PolicyState state() const;
  // Throws Error(checkpoint) when this is no state of such a test.
  void restore(const PolicyState& state);

  // Of a test that is ready at once and finds the lowest width good.
  static Step least_steps(const RangeTestOptions& options);
  // Of one that is hard to decide throughout.
  static Step most_steps(const RangeTestOptions& options);

 private:
  // Of the steps of a block that are measured.
  struct Block {
    Step steps = 0;  // measured or not
    double sum = 0, squares = 0, count = 0;
  };
  const Phase& phase() const { return phases_.back(); }
  void end_block(const Block& block);
  void end_warm_up(const Block& block);
  void judge();
  double threshold() const;
  Result present_result() const;
  void begin(Goal goal, int bits);
  void go_on_after(const Result& result);
  void finish(End end, int lower, int upper);
  int lower_so_far() const;

  RangeTestOptions options_;
  Phases phases_;
  std::vector<Result> results_;
  std::vector<double> blocks_;  // means of the blocks of the phase
  Block block_;
  Step steps_ = 0;
  End end_ = End::not_yet;
};

// The bits of a step by the phases, of which the first begins at step 0; none where the schedule
// has begun.
std::optional<int> bits_at(const RangeTest::Phases& phases, Step block, Step step);

}  // namespace bitcycle
