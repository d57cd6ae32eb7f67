#include "quant/scheme_call.h"

#include "quant/dense.h"

namespace bitcycle {
namespace {

// The noise of a scheme's further quantizers, independent of that of the error.
NoiseKey noise_for(const LayerCall& call, std::string_view purpose) {
  const std::uint64_t packed = std::uint64_t{call.noise.first} << 32 | call.noise.second;
  return noise_key(RandomKey(packed).derive(purpose));
}

}  // namespace

at::Tensor quantized_input(const at::Tensor& x, const LayerCall& call) {
  if (call.bits.activation == 0) return dense(x);
  return call.scheme->activation.quantize(x, call.input_range, call.bits.activation);
}

at::Tensor quantized_weight(const at::Tensor& weight, const LayerCall& call) {
  if (call.bits.weight == 0) return dense(weight);
  return call.scheme->weight.quantize(weight, call.bits.weight);
}

CallErrors quantized_errors(const at::Tensor& error, const LayerCall& call) {
  const int bits = call.bits.error;
  if (bits == 0) return {dense(error), dense(error)};
  const at::Tensor for_input = call.scheme->error(error, bits, call.noise);
  if (!call.scheme->weight_error) return {for_input, for_input};
  return {for_input, call.scheme->weight_error(error, bits, noise_for(call, "weight error"))};
}

bool asks_for_input(const LayerCall& call) {
  return call.bits.activation != 0 && call.scheme->activation.gradient;
}
bool asks_for_weight(const LayerCall& call) {
  return call.bits.weight != 0 && call.scheme->weight.gradient;
}

at::Tensor through_input(const at::Tensor& gradient, const at::Tensor& x, const LayerCall& call) {
  if (!asks_for_input(call)) return gradient;
  return call.scheme->activation.gradient(gradient, x, call.input_range, call.bits.activation);
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
