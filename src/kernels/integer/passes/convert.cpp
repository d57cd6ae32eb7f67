#include "bitcycle/kernels/integer/convert.h"

#include "kernels/integer/passes/pass_plans.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

constexpr std::ptrdiff_t kChunk = 1 << 14;  // elements of a work item

template <typename Work>
void each_chunk(std::ptrdiff_t count, const Work& work) {
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; i += kChunk) work(i, std::min(kChunk, count - i));
}

}  // namespace

void to_half(const float* from, std::ptrdiff_t count, Half* to) {
  each_chunk(count, [&](std::ptrdiff_t i, std::ptrdiff_t some) {
    passes().to_half(from + i, some, to + i);
  });
}

void to_float(const Half* from, std::ptrdiff_t count, float factor, float* to) {
  each_chunk(count, [&](std::ptrdiff_t i, std::ptrdiff_t some) {
    passes().to_float(from + i, some, factor, to + i);
  });
}

void image_products(const CodeGrid& grid, RealView a, RealView b, float* products) {
  each_image(grid, [&](int n) {
    products[n] = static_cast<float>(passes().product[index(a.type)](
        image_of(a, grid, n), image_of(b, grid, n), image_elements(grid)));
  });
}

}  // namespace bitcycle::integer
