#pragma once

namespace bitcycle {

// Who computes a quantized layer. Which integers or grids it computes on is the scheme's matter
// (scheme.h); not every executor can carry out every scheme.
enum class Executor {
  simulate,  // quantize, then compute in float; any device, any width
  integer,   // the CPU's integer kernels
  oracle,    // the kernels' integers again, their sums formed by LibTorch: the same bytes, slowly
};

}  // namespace bitcycle
