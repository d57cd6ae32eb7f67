#include "bitcycle/kernels/integer/pool.h"

#include "kernels/integer/isa/microkernels.h"
#include "kernels/integer/isa/pass_kernels.h"

#include <cassert>

namespace bitcycle::integer {
namespace {

std::ptrdiff_t image_bytes(const CodeGrid& grid, Real type) {
  return grid.elements() / grid.batch * (type == Real::f16 ? 2 : 4);
}

const char* bytes(RealView view) {
  assert(view.rows == nullptr);
  return static_cast<const char*>(view.data);
}
char* bytes(MutableReal view) {
  assert(view.rows == nullptr);
  return static_cast<char*>(view.data);
}

template <typename Kernel>
void each_max_pool(const MaxPool& shape, Kernel* kernel, RealView from, const CodeGrid& from_grid,
                   MutableReal to, const CodeGrid& to_grid, std::uint8_t* taps) {
  assert(from.type == to.type);
  const CodeGrid output = shape.output();
#pragma omp parallel for schedule(static)
  for (int n = 0; n < shape.input.batch; ++n) {
    kernel({shape.input, output, shape.kernel, shape.stride, shape.pad,
            bytes(from) + n * image_bytes(from_grid, from.type),
            taps + n * (output.elements() / output.batch),
            bytes(to) + n * image_bytes(to_grid, to.type)});
  }
}

}  // namespace

void mean_pool(const CodeGrid& input, RealView from, MutableReal to) {
  assert(from.type == to.type);
  const CodeGrid pooled{input.batch, 1, 1, input.channels, 0};
  const auto kernel = microkernels().passes->mean_pool[static_cast<int>(from.type)];
#pragma omp parallel for schedule(static)
  for (int n = 0; n < input.batch; ++n) {
    kernel(input, bytes(from) + n * image_bytes(input, from.type),
           bytes(to) + n * image_bytes(pooled, to.type));
  }
}

void mean_pool_backward(const CodeGrid& input, RealView from, MutableReal to) {
  assert(from.type == to.type);
  const CodeGrid pooled{input.batch, 1, 1, input.channels, 0};
  const auto kernel = microkernels().passes->mean_pool_backward[static_cast<int>(from.type)];
#pragma omp parallel for schedule(static)
  for (int n = 0; n < input.batch; ++n) {
    kernel(input, bytes(from) + n * image_bytes(pooled, from.type),
           bytes(to) + n * image_bytes(input, to.type));
  }
}

void max_pool(const MaxPool& shape, RealView from, MutableReal to, std::uint8_t* taps) {
  each_max_pool(shape, microkernels().passes->max_pool[static_cast<int>(from.type)], from,
                shape.input, to, shape.output(), taps);
}

void max_pool_backward(const MaxPool& shape, RealView from, const std::uint8_t* taps,
                       MutableReal to) {
  each_max_pool(shape, microkernels().passes->max_pool_backward[static_cast<int>(from.type)], from,
                shape.output(), to, shape.input, const_cast<std::uint8_t*>(taps));
}

}  // namespace bitcycle::integer
