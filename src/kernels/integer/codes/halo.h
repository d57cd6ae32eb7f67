#pragma once

#include "bitcycle/kernels/integer/tensor.h"

#include <cstring>

namespace bitcycle::integer {

// Sets the halo of one image to the zero point.
inline void fill_halo(const CodeGrid& grid, int zero_point, std::uint8_t* image) {
  const std::ptrdiff_t row = grid.row_bytes();
  const auto side = static_cast<std::size_t>(grid.halo) * static_cast<std::size_t>(grid.channels);
  const auto border = static_cast<std::size_t>(grid.halo * row);
  std::memset(image, zero_point, border);
  std::memset(image + (grid.height + grid.halo) * row, zero_point, border);
  for (int y = 0; y < grid.height; ++y) {
    std::uint8_t* first = image + (y + grid.halo) * row;
    std::memset(first, zero_point, side);
    std::memset(first + row - static_cast<std::ptrdiff_t>(side), zero_point, side);
  }
}

}  // namespace bitcycle::integer
