#pragma once

// A scheme says which tensors of a layer are quantized how, and what the gradient of each quantizer
// is. It is a value, made of functions: a scheme of one's own is a few of them. Who computes with
// what they give is the executor (executor.h). Roles at 0 bits are in float: nobody asks their
// quantizer then.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/range.h"
#include "bitcycle/quant/executor.h"
#include "bitcycle/quant/torch.h"

#include <functional>
#include <memory>
#include <string>

namespace bitcycle {

struct WeightQuantizer {
  std::function<at::Tensor(const at::Tensor& weight, int bits)> quantize;
  // From the gradient of the quantized weight to that of the weight; empty: straight through.
  std::function<at::Tensor(const at::Tensor& gradient, const at::Tensor& weight, int bits)>
      gradient;
};

struct ActivationQuantizer {
  // Of a training step's input. Layers average it over steps, and evaluate over the average.
  std::function<Range(const at::Tensor& x)> range;
  std::function<at::Tensor(const at::Tensor& x, Range range, int bits)> quantize;
  // From the gradient of the quantized input to that of the input; empty: straight through.
  std::function<at::Tensor(const at::Tensor& gradient, const at::Tensor& x, Range range, int bits)>
      gradient;
};

// Of an error or a weight gradient. What it gives is taken as it is: nothing is differentiated
// twice.
using ErrorQuantizer = std::function<at::Tensor(const at::Tensor& error, int bits, NoiseKey noise)>;

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
