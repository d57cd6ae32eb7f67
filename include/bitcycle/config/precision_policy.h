#pragma once

// Who decides the precision of a run. A policy is asked once per step, and what it answers is what
// the layers are told, what the cost is counted from and what reports show. A schedule is the
// policy without a state (precision_plan.h); others may look at how training goes.

#include "bitcycle/events/event_sink.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/schedule/schedule.h"
#include "bitcycle/schedule/spec.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

struct RunLength {
  Step steps = 0;
  Step steps_per_epoch = 1;
};

// The bits of one step; an entry per layer of the policy.
struct StepBits {
  std::vector<LayerBits> layers;
  // As the papers' rule counts them: layers that the model itself keeps in float count at the bits
  // that are common to the others.
  std::vector<LayerBits> counted;
  LayerBits common;  // of the layers that have none of their own, for people to look at
  // What the samples really had in the layers whose bits gates chose for each of them, by the index
  // of the layer, in place of `layers` and `counted`; empty until gates have chosen.
  LayerMixtures mixtures = {};
};

// At which precision to evaluate.
struct EvaluationBits {
  enum class Kind { schedule_max, current, full, fixed };
  Kind kind = Kind::schedule_max;
  int bits = 0;  // fixed
};
// Reads "max", "current", "fp" (or 0) or a width; throws Error(usage).
EvaluationBits parse_evaluation_bits(std::string_view text);

// Between which bits a layer may move over a run, by role.
struct LayerWidths {
  WidthBounds weight, activation, error;
};

// All that a policy carries from step to step; checkpoints hold it.
using PolicyState = std::map<std::string, std::vector<double>>;

class PrecisionPolicy {
 public:
  virtual ~PrecisionPolicy() = default;

  virtual const std::vector<LayerInfo>& layers() const = 0;
  // The bits of a training step; a function of the step and of what was observed before it.
  virtual StepBits decide(Step step) const = 0;
  // The bits to evaluate at after `step`.
  virtual StepBits evaluation(const EvaluationBits& bits, Step step) const = 0;
  // Between which bits each layer may move, whatever will be observed.
  virtual std::vector<LayerWidths> widths() const = 0;

  // What a step gave; may lead to another stage.
  virtual std::optional<StageChange> observe(Step /*step*/, const MetricSums&) { return {}; }
  virtual PolicyState state() const { return {}; }
  // Throws Error(checkpoint) when this is no state of the policy.
  virtual void restore(const PolicyState&) {}

  // The step at the upper bounds.
  StepBits upper() const { return evaluation({}, 0); }
  // What savings are measured against.
  virtual StepBits reference() const { return upper(); }
};

}  // namespace bitcycle
