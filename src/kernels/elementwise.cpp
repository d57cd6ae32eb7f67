#include "kernels/elementwise.h"

namespace bitcycle {

const ElementwiseKernels& elementwise_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512:
      return elementwise_avx512();
    case Isa::avx2:
      return elementwise_avx2();
#endif
    default:
      return elementwise_scalar();
  }
}

const ElementwiseKernels& elementwise_kernels() {
  static const ElementwiseKernels& table = elementwise_kernels(active_isa());
  return table;
}

}  // namespace bitcycle
