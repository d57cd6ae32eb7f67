#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"

#include <ATen/Parallel.h>

namespace bitcycle {
namespace {

// What the fused passes can read: float values on the CPU.
bool fused(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat;
}

}  // namespace

Range tensor_range(const at::Tensor& x) {
  if (!fused(x)) return portable::tensor_range(x);
  return range_of(values(dense(x)));
}

at::Tensor quantize_tensor(const at::Tensor& x, Range range, int bits) {
  if (!fused(x)) return portable::quantize_tensor(x, range, bits);
  const at::Tensor input = dense(x);
  at::Tensor out = at::empty_like(input);
  quantize(values(input), make_grid(range, bits), values(out));
  return out;
}

at::Tensor quantize_error(const at::Tensor& x, int bits, NoiseKey key) {
  if (!fused(x)) return portable::quantize_error(x, bits, key);
  const at::Tensor input = dense(x);
  at::Tensor out = at::empty_like(input);
  quantize_stochastic(values(input), make_grid(range_of(values(input)), bits), key, values(out));
  return out;
}

at::Tensor quantize_weight(const at::Tensor& x, int bits) {
  if (!fused(x)) return portable::quantize_weight(x, bits);
  const at::Tensor input = dense(x);
  at::Tensor out = at::empty_like(input);
  quantize_rows(values(input), input.size(0), bits, values(out));
  return out;
}

at::Tensor noise_like(const at::Tensor& x, NoiseKey key) {
  if (!fused(x)) return portable::noise_like(x, key);
  at::Tensor out = at::empty_like(x);
  const std::span<float> to = values(out);
  at::parallel_for(0, x.numel(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      to[static_cast<std::size_t>(i)] = noise(key, static_cast<std::uint64_t>(i));
    }
  });
  return out;
}

}  // namespace bitcycle
