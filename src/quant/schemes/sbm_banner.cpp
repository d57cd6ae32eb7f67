// SBM as Banner et al. (2018) have it, in their later version, with the paper's copy of the error
// at 16 bits for the weight gradient; docs/numerics.md has what differs from the CPT authors' form.

#include "bitcycle/quant/quantizer.h"
#include "bitcycle/quant/schemes.h"

#include "quant/dense.h"
#include "quant/schemes/range_norm.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace bitcycle {
namespace {

constexpr RangeAverage kAverage = {.keep = 0.1f, .take = 0.9f};
constexpr int kWeightErrorBits = 16;
constexpr int kMostBits = 32;

// Added up in order, so that the number of threads does not matter.
float mean_of(const at::Tensor& x) {
  const at::Tensor on_cpu = x.to(at::kCPU, at::kFloat).contiguous();
  const auto all = values(on_cpu);
  return static_cast<float>(std::accumulate(all.begin(), all.end(), 0.0) /
                            static_cast<double>(all.size()));
}

// The means, over the samples, of their smallest and of their largest value: what is outside is
// clamped.
Range mean_of_extremes(const at::Tensor& x) {
  std::vector<std::int64_t> within(static_cast<std::size_t>(x.dim() - 1));
  std::iota(within.begin(), within.end(), 1);
  return {mean_of(x.amin(within)), mean_of(x.amax(within))};
}

at::Tensor weight_error(const at::Tensor& error, int bits, NoiseKey noise) {
  return quantize_error(error, std::max(bits, kWeightErrorBits), noise);
}

at::Tensor quantize_bias(const at::Tensor& bias, LayerBits bits) {
  return quantize_tensor(bias, tensor_range(bias),
                         std::min(bits.weight + bits.activation, kMostBits));
}

}  // namespace

const Scheme& sbm_banner_scheme() {
  static const Scheme scheme{
      .name = "sbm-banner",
      .weight = {quantize_weight, {}},
      .activation = {mean_of_extremes, quantize_tensor, {}, kAverage},
      .error = quantize_error,
      .weight_error = weight_error,
      .weight_gradient = {},
      .bias = quantize_bias,
      .norm = {.range = mean_of_extremes, .average = kAverage, .apply = range_norm}};
  return scheme;
}

}  // namespace bitcycle
