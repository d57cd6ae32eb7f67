#pragma once

// LibTorch's CPU tensors come from malloc, which returns large blocks to the system and faults
// their pages in again on every step. This allocator keeps blocks for reuse, by size: after the
// first step a training loop asks the system for nothing. It also counts, which is how memory is
// measured.

#include <cstdint>

namespace bitcycle {

struct TensorMemory {
  std::int64_t in_use = 0;  // bytes of live tensors
  std::int64_t peak = 0;    // the most there have been since reset_peak_memory()
};

// Makes LibTorch use the allocator from now on, for the rest of the process. Later calls do
// nothing.
void use_caching_allocator();

TensorMemory tensor_memory();
void reset_peak_memory();

}  // namespace bitcycle
