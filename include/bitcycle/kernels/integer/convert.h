#pragma once

// Tensors from float to half precision and back, and inner products of either, on the threads.

#include "bitcycle/kernels/integer/tensor.h"

#include <cstddef>

namespace bitcycle::integer {

// Rounded to nearest even.
void to_half(const float* from, std::ptrdiff_t count, Half* to);
// Multiplied by `factor`.
void to_float(const Half* from, std::ptrdiff_t count, float factor, float* to);

// Of each image of two tensors; an entry of `products` per image.
void image_products(const CodeGrid& grid, RealView a, RealView b, float* products);

}  // namespace bitcycle::integer
