#pragma once

namespace bitcycle {

// Who computes a quantized layer, and in which scheme.
enum class Executor {
  simulate,          // SBM: quantize, then compute in float; any device, any width
  integer,           // the integer scheme, on the CPU's integer kernels
  simulate_integer,  // the integer scheme again, its sums formed by LibTorch: the same bytes,
                     // slowly
};

}  // namespace bitcycle
