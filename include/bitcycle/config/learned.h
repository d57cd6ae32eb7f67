#pragma once

// How much a model has learned, counted from one that guesses, so that it can be said what share of
// it is there under other conditions.

#include "bitcycle/events/metric.h"
#include "bitcycle/network/layer_info.h"

#include <cstdint>
#include <vector>

namespace bitcycle {

// How many answers a model chooses between: classes, or words of a vocabulary.
std::int64_t outputs_of(const std::vector<LayerInfo>& layers);

// What chance gives, and in which metric.
class Learned {
 public:
  // With an accuracy among the metrics: accuracy above 1 / outputs. Without: the part of the
  // uniform model's loss, ln(outputs), that is gone.
  enum class Kind { accuracy, loss };

  explicit Learned(std::int64_t outputs) : outputs_(static_cast<double>(outputs)) {}

  static Kind kind(const MetricSums& metrics);
  double of(const MetricSums& metrics) const;
  // The metric at which so much is learned: an accuracy from 0 to 1, or a loss.
  double metric(Kind kind, double learned) const;

 private:
  double outputs_;
};

}  // namespace bitcycle
