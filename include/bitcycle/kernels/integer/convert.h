#pragma once

// Tensors from float to half precision and back, on the threads.

#include "bitcycle/kernels/integer/half.h"

#include <cstddef>

namespace bitcycle::integer {

// Rounded to nearest even.
void to_half(const float* from, std::ptrdiff_t count, Half* to);
// Multiplied by `factor`.
void to_float(const Half* from, std::ptrdiff_t count, float factor, float* to);

}  // namespace bitcycle::integer
