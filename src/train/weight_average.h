#pragma once

// Stochastic weight averaging (Izmailov et al. 2018): the mean of a model's trainable parameters at
// several points of its training, t_s <- t_s + (t - t_s) / (n + 1) after n points. Parameters are
// the float master weights; buffers are not averaged.

#include "bitcycle/quant/named_tensors.h"
#include "bitcycle/schedule/schedule.h"

namespace bitcycle {

class WeightAverage {
 public:
  // Refers to the parameters of the model.
  explicit WeightAverage(const torch::nn::Module& model);

  // Takes in the model's weights; `points` are in the mean already.
  void add(Step points);
  // The mean by parameter; it shares memory with it, so writing restores it.
  const NamedTensors& state() const { return means_; }
  void write_to_model() const;

 private:
  NamedTensors weights_, means_;
};

}  // namespace bitcycle
