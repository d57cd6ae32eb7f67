#pragma once

// Matrix products that do not depend on the number of threads. Libraries cut sums in another way on
// one thread than on many, on processors with AVX-512 short ones too. So the columns of the result
// are cut into shards by their number alone, and each shard is computed by one thread.

#include "quant/single_thread.h"

namespace bitcycle {

// a [rows, n] times b [n, columns].
inline at::Tensor steady_product(const at::Tensor& a, const at::Tensor& b) {
  if (!a.is_cpu()) return at::mm(a, b);
  const at::Tensor product = at::empty({a.size(0), b.size(1)}, a.options());
  const std::int64_t columns = b.size(1), size = std::max<std::int64_t>(64, (columns + 15) / 16);
  at::parallel_for(0, (columns + size - 1) / size, 1, [&](std::int64_t begin, std::int64_t end) {
    const SingleThread single_thread;
    const at::NoGradGuard no_grad;  // grad mode is per thread
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t count = std::min(size, columns - i * size);
      at::Tensor part = product.narrow(1, i * size, count);
      at::mm_out(part, a, b.narrow(1, i * size, count));
    }
  });
  return product;
}

}  // namespace bitcycle
