#include "bitcycle/quant/quantizer.h"
#include "bitcycle/quant/schemes.h"

namespace bitcycle {

const Scheme& sbm_scheme() {
  static const Scheme scheme{.name = "sbm",
                             .weight = {quantize_weight, {}},
                             .activation = {tensor_range, quantize_tensor, {}},
                             .error = quantize_error,
                             .weight_error = {},
                             .weight_gradient = {}};
  return scheme;
}

}  // namespace bitcycle
