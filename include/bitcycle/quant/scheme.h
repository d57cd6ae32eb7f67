#pragma once

// A scheme says which tensors of a layer are quantized how, and what the gradient of each quantizer
// is. It is a value, made of functions: a scheme of one's own is a few of them. Who computes with
// what they give is the executor (executor.h). Roles at 0 bits are in float: nobody asks their
// quantizer then.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/range.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/torch.h"

#include <functional>
#include <memory>
#include <string>

namespace bitcycle {

// The weights of the past and of a step in a running range; these are SBM's.
struct RangeAverage {
  float keep = 0.9f, take = 0.1f;
};

struct WeightQuantizer {
  std::function<at::Tensor(const at::Tensor& weight, int bits)> quantize;
  // From the gradient of the quantized weight to that of the weight; empty: straight through.
  std::function<at::Tensor(const at::Tensor& gradient, const at::Tensor& weight, int bits)>
      gradient;
};

struct ActivationQuantizer {
  // Of a training step's input. Layers average it over steps, and evaluate over the average. Empty:
  // the quantizer has no use for one, and none is kept.
  std::function<Range(const at::Tensor& x)> range;
  std::function<at::Tensor(const at::Tensor& x, Range range, int bits)> quantize;
  // From the gradient of the quantized input to that of the input; empty: straight through.
  std::function<at::Tensor(const at::Tensor& gradient, const at::Tensor& x, Range range, int bits)>
      gradient;
  RangeAverage average = {};
};

// Of an error or a weight gradient. What it gives is taken as it is: nothing is differentiated
// twice.
using ErrorQuantizer = std::function<at::Tensor(const at::Tensor& error, int bits, NoiseKey noise)>;

// One call of a batch norm.
struct NormCall {
  torch::nn::BatchNorm2dImpl& norm;  // its parameters, its mode and its running statistics
  Range input_range;                 // as a layer's: of this input in training, else the average
  NoiseKey noise;
};

// What stands in place of the batch norm behind a convolution that is not in float.
struct NormQuantizer {
  std::function<Range(const at::Tensor& x)> range;  // as ActivationQuantizer::range
  RangeAverage average = {};
  // Differentiable; in training it moves the running statistics. Empty: batch norm in float.
  std::function<at::Tensor(const at::Tensor& x, const NormCall& call)> apply;
};

// How a parameter is moved in one step: a quantized layer's weight, or gamma and beta of the norm
// behind it.
struct ParameterUpdate {
  enum class Role { weight, norm };

  Role role = Role::weight;
  int bits = 0;         // of the layer's errors
  double progress = 0;  // from 0 to 1 over the run
  NoiseKey noise;
};

// What quantizes the optimizer's arithmetic. Only SGD with momentum is asked; parameters of layers
// in float, and those that are no layer's or norm's, are moved in float.
struct UpdateQuantizer {
  // Of the gradient with the weight decay in it.
  std::function<at::Tensor(const at::Tensor& gradient, const ParameterUpdate& update)> gradient;
  std::function<at::Tensor(const at::Tensor& momentum)> momentum;    // after each step
  std::function<at::Tensor(const at::Tensor& parameter)> parameter;  // likewise
  std::function<at::Tensor(const at::Tensor& weight)> start;         // of weights, once
  std::function<double(double rate)> rate;  // of learning, for every parameter

  bool empty() const { return !gradient && !momentum && !parameter && !start && !rate; }
};

struct Scheme {
  // Whose kernels carry it out: nobody's, or those of bitcycle/kernels/integer, which have
  // quantizers of their own. A scheme with kernels keeps the quantizers below for layers and bits
  // that its kernels do not take.
  enum class Kernels { none, integer };

  std::string name;
  WeightQuantizer weight;
  ActivationQuantizer activation;
  ErrorQuantizer error;            // for the gradient of the input
  ErrorQuantizer weight_error;     // for that of the weight; empty: as for the input's
  ErrorQuantizer weight_gradient;  // of the result, at the error's bits; empty: left in float
  // Likewise, of the gradient of the quantized input.
  ErrorQuantizer input_gradient = {};
  // At the bits of its layer, straight through; empty: left in float.
  std::function<at::Tensor(const at::Tensor& bias, LayerBits bits)> bias = {};
  NormQuantizer norm = {};
  // In place of a unit's ReLU, whatever the bits; differentiable.
  std::function<at::Tensor(const at::Tensor& x)> rectify = {};
  UpdateQuantizer update = {};
  Kernels kernels = Kernels::none;
};

// Why an executor cannot carry out a scheme; empty where it can.
std::string obstacle(const Scheme& scheme, Executor executor);

// Told in which scheme to quantize, and who computes: layers, units, and models that pass tensors
// from one to the other in a form of their own.
class SchemeUser {
 public:
  virtual ~SchemeUser() = default;
  virtual void use_scheme(const std::shared_ptr<const Scheme>& scheme, Executor executor) = 0;
};

// Tells the model and everything in it. Throws Error(usage) with the obstacle where there is one.
void set_scheme(torch::nn::Module& model, const Scheme& scheme,
                Executor executor = Executor::simulate);
// The same with the scheme that the executor is there for: SBM to simulate, else the integer one.
void set_executor(torch::nn::Module& model, Executor executor);

}  // namespace bitcycle
