#include "bitcycle/quant/schemes.h"

namespace bitcycle {

// What the kernels do not take is quantized as in SBM.
const Scheme& integer_scheme() {
  static const Scheme scheme = [] {
    Scheme integer = sbm_scheme();
    integer.name = "integer";
    integer.kernels = Scheme::Kernels::integer;
    return integer;
  }();
  return scheme;
}

}  // namespace bitcycle
