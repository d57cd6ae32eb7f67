// The quantizers in tensor operations, for devices without fused passes. Each operation stands for
// one of the fused loop's, in the same order, so that the values are the same.

#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"

#include <cmath>

namespace bitcycle::portable {
namespace {

at::Tensor round_to_grid(const at::Tensor& codes, const Grid& grid) {
  return codes.clamp(0.0f, grid.levels).round_().mul_(grid.scale).add_(grid.low);
}

// The divisor is a tensor because some devices divide by a number as a product with its inverse.
at::Tensor to_codes(const at::Tensor& x, const Grid& grid) {
  return (x - grid.low) / at::full({}, grid.scale, x.options());
}

// 32-bit unsigned arithmetic in 64-bit tensors: LibTorch has no unsigned type of this width. The
// product is formed from 16-bit halves, because the signed 64-bit one would overflow.
constexpr std::int64_t kMask = 0xffffffff;

at::Tensor multiply(const at::Tensor& x, std::int64_t factor) {
  const at::Tensor low = x.bitwise_and(0xffff) * factor;
  const at::Tensor high = x.bitwise_right_shift(16).mul(factor).bitwise_and(0xffff);
  return (low + high.bitwise_left_shift(16)).bitwise_and(kMask);
}

at::Tensor xor_shift(const at::Tensor& x, std::int64_t shift) {
  return x.bitwise_xor(x.bitwise_right_shift(shift));
}

// noise(key, i) of Note [Rounding noise] for i = 0 ... count-1.
at::Tensor noise_values(std::int64_t count, NoiseKey key, const at::Device& device) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const at::Tensor pair = at::arange((count + 1) / 2, options);
  at::Tensor x = multiply(xor_shift(pair.bitwise_xor(std::int64_t{key.first}), 16), 0x7feb352d);
  x = (xor_shift(x, 15) + std::int64_t{key.second}).bitwise_and(kMask);
  x = xor_shift(multiply(x, 0x846ca68b), 16);
  const at::Tensor halves = at::stack({x.bitwise_and(0xffff), x.bitwise_right_shift(16)}, 1)
                                .flatten()
                                .narrow(0, 0, count);
  return (halves.to(at::kFloat) - 32767.5f) * 0x1p-16f;
}

}  // namespace

Range tensor_range(const at::Tensor& x) {
  return {x.min().item<float>(), x.max().item<float>()};
}

at::Tensor quantize_tensor(const at::Tensor& x, Range range, int bits) {
  const Grid grid = make_grid(range, bits);
  return round_to_grid(to_codes(x, grid), grid);
}

at::Tensor quantize_error(const at::Tensor& x, int bits, NoiseKey key) {
  const at::Tensor input = dense(x);
  const Grid grid = make_grid(tensor_range(input), bits);
  return round_to_grid(to_codes(input, grid) + portable::noise_like(input, key), grid);
}

at::Tensor noise_like(const at::Tensor& x, NoiseKey key) {
  return noise_values(x.numel(), key, x.device()).as_strided(x.sizes(), x.strides());
}

at::Tensor quantize_weight(const at::Tensor& x, int bits) {
  const at::Tensor rows = x.flatten(1);
  const at::Tensor lo = rows.amin(1, /*keepdim=*/true);
  const float levels = make_grid({}, bits).levels;
  const at::Tensor scale = ((rows.amax(1, true) - lo) / levels).clamp_min(1e-8f);
  const at::Tensor codes = ((rows - lo) / scale).clamp(0.0f, levels).round_();
  return dense((codes * scale + lo).view(x.sizes()));
}

}  // namespace bitcycle::portable
