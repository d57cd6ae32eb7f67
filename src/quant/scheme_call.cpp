#include "quant/scheme_call.h"

#include "quant/dense.h"
#include "quant/observe.h"

#include <map>
#include <vector>

namespace bitcycle {
namespace {

// The noise of a scheme's further quantizers, independent of that of the error.
NoiseKey noise_for(const LayerCall& call, std::string_view purpose) {
  const std::uint64_t packed = std::uint64_t{call.noise.first} << 32 | call.noise.second;
  return noise_key(RandomKey(packed).derive(purpose));
}

// A tensor at the bits of a role (`at_bits` makes it), or each sample of it at its own: whole
// tensors are made at each width in use, and samples picked from them, so that all share one range
// and each has the noise that it would have alone.
template <typename AtBits>
at::Tensor at_own_bits(const LayerCall& call, int LayerBits::*role, const AtBits& at_bits) {
  if (call.choice == nullptr) return at_bits(call.bits.*role);
  const auto& [options, of_sample, mask] = *call.choice;
  std::map<int, std::vector<std::uint8_t>> samples;  // by bits: 1 where a sample has them
  for (std::size_t i = 0; i < of_sample.size(); ++i) {
    auto& own = samples[options[static_cast<std::size_t>(of_sample[i])].*role];
    own.resize(of_sample.size());
    own[i] = 1;
  }
  at::Tensor result;
  for (const auto& [bits, own] : samples) {
    const at::Tensor made = at_bits(bits);
    const at::Tensor rows =
        at::tensor(own, at::kByte).to(made.device(), at::kBool).view({-1, 1, 1, 1});
    result = result.defined() ? at::where(rows, made, result) : made;
  }
  return result;
}

at::Tensor quantized_input_gradient(const at::Tensor& gradient, const LayerCall& call) {
  if (call.bits.error == 0 || !call.scheme->input_gradient) return gradient;
  return at_own_bits(call, &LayerBits::error, [&](int bits) {
    return call.scheme->input_gradient(gradient, bits, noise_for(call, "input gradient"));
  });
}

}  // namespace

at::Tensor quantized_input(const at::Tensor& x, const LayerCall& call) {
  const at::Tensor input = at_own_bits(call, &LayerBits::activation, [&](int bits) {
    return bits == 0 ? dense(x) : call.scheme->activation.quantize(x, call.input_range, bits);
  });
  observe_input(x, input, call);
  return input;
}

at::Tensor quantized_weight(const at::Tensor& weight, const LayerCall& call) {
  if (call.bits.weight == 0) return dense(weight);
  const at::Tensor weights = call.scheme->weight.quantize(weight, call.bits.weight);
  observe_weight(weight, weights, call);
  return weights;
}

CallErrors quantized_errors(const at::Tensor& error, const LayerCall& call) {
  if (call.bits.error == 0) return {dense(error), dense(error)};
  const auto quantized = [&](const ErrorQuantizer& quantize, NoiseKey noise) {
    return at_own_bits(call, &LayerBits::error,
                       [&](int bits) { return quantize(error, bits, noise); });
  };
  const at::Tensor for_input = quantized(call.scheme->error, call.noise);
  observe_errors(error, for_input, call);
  if (!call.scheme->weight_error) return {for_input, for_input};
  return {for_input, quantized(call.scheme->weight_error, noise_for(call, "weight error"))};
}

bool asks_for_input(const LayerCall& call) {
  return call.bits.activation != 0 && call.scheme->activation.gradient;
}
bool asks_for_weight(const LayerCall& call) {
  return call.bits.weight != 0 && call.scheme->weight.gradient;
}

at::Tensor through_input(const at::Tensor& gradient, const at::Tensor& x, const LayerCall& call) {
  const at::Tensor quantized = quantized_input_gradient(gradient, call);
  if (!asks_for_input(call)) return quantized;
  return at_own_bits(call, &LayerBits::activation, [&](int bits) {
    return call.scheme->activation.gradient(quantized, x, call.input_range, bits);
  });
}

at::Tensor mask_gradient(const at::Tensor& gradient, const at::Tensor& x, const LayerCall& call) {
  std::map<int, at::Tensor> products;  // by bits
  std::vector<at::Tensor> columns;
  for (const LayerBits& option : call.choice->options) {
    at::Tensor& product = products[option.activation];
    if (!product.defined()) {
      const at::Tensor input =
          call.scheme->activation.quantize(x, call.input_range, option.activation);
      product = (gradient * input).flatten(1).sum(1);
    }
    columns.push_back(product);
  }
  return at::stack(columns, 1);
}

at::Tensor through_weight(const at::Tensor& gradient, const at::Tensor& weight,
                          const LayerCall& call) {
  const at::Tensor through = asks_for_weight(call)
                                 ? call.scheme->weight.gradient(gradient, weight, call.bits.weight)
                                 : gradient;
  if (call.bits.error == 0 || !call.scheme->weight_gradient) return through;
  return call.scheme->weight_gradient(through, call.bits.error, noise_for(call, "weight gradient"));
}

}  // namespace bitcycle
