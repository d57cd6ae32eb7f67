#include "bitcycle/kernels/integer/stored_codes.h"

#include "kernels/integer/codes/halo.h"

namespace bitcycle::integer {
namespace {

constexpr int kHalfByte = 4;

std::ptrdiff_t row_codes(const CodeGrid& grid) {
  return std::ptrdiff_t{grid.width} * grid.channels;
}
std::ptrdiff_t stored_row(const CodeGrid& grid, int bits) {
  return bits <= kHalfByte ? (row_codes(grid) + 1) / 2 : row_codes(grid);
}

// The first half of a row lies in the low half bytes, the second in the high ones.
void store_row(const std::uint8_t* codes, std::ptrdiff_t count, int bits, std::uint8_t* stored) {
  if (bits > kHalfByte) {
    std::memcpy(stored, codes, static_cast<std::size_t>(count));
    return;
  }
  const std::ptrdiff_t second = (count + 1) / 2;
  for (std::ptrdiff_t i = 0; i < count - second; ++i) {
    stored[i] = static_cast<std::uint8_t>(codes[i] | codes[second + i] << kHalfByte);
  }
  if (count % 2 != 0) stored[second - 1] = codes[second - 1];
}

void load_row(const std::uint8_t* stored, std::ptrdiff_t count, int bits, std::uint8_t* codes) {
  if (bits > kHalfByte) {
    std::memcpy(codes, stored, static_cast<std::size_t>(count));
    return;
  }
  const std::ptrdiff_t second = (count + 1) / 2;
  for (std::ptrdiff_t i = 0; i < second; ++i) codes[i] = stored[i] & 0xf;
  for (std::ptrdiff_t i = 0; i < count - second; ++i) codes[second + i] = stored[i] >> kHalfByte;
}

// Calls work(offset of a row's first code in the image, offset of the stored row).
template <typename Work>
void each_row(const CodeGrid& grid, int bits, int image, Work work) {
  const std::ptrdiff_t first =
      grid.halo * grid.row_bytes() + std::ptrdiff_t{grid.halo} * grid.channels;
  for (int y = 0; y < grid.height; ++y) {
    work(y * grid.row_bytes() + first,
         (std::ptrdiff_t{image} * grid.height + y) * stored_row(grid, bits));
  }
}

}  // namespace

std::size_t stored_bytes(const CodeGrid& grid, int bits) {
  return static_cast<std::size_t>(stored_row(grid, bits)) * static_cast<std::size_t>(grid.batch) *
         static_cast<std::size_t>(grid.height);
}

void StoredCodes::make(int image, std::uint8_t* codes) const {
  fill_halo(grid_, params_.zero_point, codes);
  each_row(grid_, params_.bits, image, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    load_row(stored_ + from, row_codes(grid_), params_.bits, codes + to);
  });
}

void StoringCodes::make(int image, std::uint8_t* codes) const {
  maker_.make(image, codes);
  each_row(grid_, params_.bits, image, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    store_row(codes + from, row_codes(grid_), params_.bits, stored_ + to);
  });
}

}  // namespace bitcycle::integer
