#pragma once

// The plane in the space of a model's weights on which its loss landscape lies (Li et al. 2018):
// theta + alpha delta + beta eta, with two random directions that are normalised filter by filter.
//
// Note [Filter-normalised directions]
// A weight with two dimensions or more has a filter for each index of its first one: of a
// convolution an output channel, of a fully connected layer, an LSTM's matrix or an embedding a
// row. A direction is drawn from the standard normal distribution, and each filter of it is scaled
// to the length of the model's filter: delta_i |theta_i| / (|delta_i| + 1e-10). Vectors (biases,
// the scale and shift of norms) and running statistics stay as they are, and so do gates, which
// choose precision and are not asked where the precision is given. A tensor that serves two layers
// (tied embeddings) is moved once. Directions are a function of the seed and of each tensor's name
// and shape, so that networks of one architecture are seen along the same draws.

#include "bitcycle/base/random.h"
#include "bitcycle/quant/torch.h"

#include <string>
#include <vector>

namespace bitcycle {

class WeightPlane {
 public:
  // The model's weights of now are the centre.
  WeightPlane(const torch::nn::Module& model, RandomKey key);
  // Puts the model back there.
  ~WeightPlane();
  WeightPlane(const WeightPlane&) = delete;
  WeightPlane& operator=(const WeightPlane&) = delete;

  void move_to(double alpha, double beta);

  struct Weight {
    std::string name;
    at::Tensor tensor;                 // the model's own
    at::Tensor centre, first, second;  // contiguous copies: theta, delta, eta
  };
  const std::vector<Weight>& weights() const { return weights_; }

 private:
  std::vector<Weight> weights_;
};

}  // namespace bitcycle
