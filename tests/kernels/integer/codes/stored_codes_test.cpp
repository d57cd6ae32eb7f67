#include "bitcycle/kernels/integer/stored_codes.h"

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/integer/oracle.h"

#include <vector>

#include <gtest/gtest.h>

namespace bitcycle::integer {
namespace {

// Codes of a grid with its halo at the zero point; slack bytes are left alone.
std::vector<std::uint8_t> random_codes(const CodeGrid& grid, const CodeParams& params) {
  std::vector<std::uint8_t> codes(grid.bytes(), 0);
  const RandomKey key(3);
  for (std::ptrdiff_t i = 0; i < grid.image_bytes() * grid.batch; ++i) {
    const std::ptrdiff_t y = i / grid.row_bytes() % (grid.height + 2 * grid.halo);
    const std::ptrdiff_t x = i % grid.row_bytes() / grid.channels;
    const bool inside = y >= grid.halo && x >= grid.halo && y < grid.height + grid.halo &&
                        x < grid.width + grid.halo;
    codes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(
        inside ? key.below(static_cast<std::uint64_t>(i), 1U << params.bits)
               : static_cast<std::uint64_t>(params.zero_point));
  }
  return codes;
}

TEST(StoredCodes, ComeBackAsTheyWereAtEveryWidth) {
  for (const CodeGrid& grid :
       {CodeGrid{2, 5, 7, 16, 1}, {1, 3, 3, 5, 0}, {3, 1, 1, 1, 2}, {2, 4, 9, 33, 3}}) {
    for (int bits = kMinBits; bits <= kMaxBits; ++bits) {
      const CodeParams params{.zero_point = 1, .bits = bits};
      const std::vector<std::uint8_t> codes = random_codes(grid, params);
      std::vector<std::uint8_t> stored(stored_bytes(grid, bits));
      std::vector<std::uint8_t> made(grid.bytes(), 0), loaded(grid.bytes(), 0);
      const testing::CopiedCodes given(grid, codes);
      make_all(grid, StoringCodes(grid, params, given, stored.data()), made.data());
      make_all(grid, StoredCodes(grid, params, stored.data()), loaded.data());
      EXPECT_EQ(codes, made);
      EXPECT_EQ(codes, loaded);
    }
  }
}

TEST(StoredCodes, TakeHalfAByteAtFourBits) {
  const CodeGrid grid{2, 8, 8, 16, 1};
  EXPECT_EQ(stored_bytes(grid, 4), 1024U);
  EXPECT_EQ(stored_bytes(grid, 5), 2048U);
}

}  // namespace
}  // namespace bitcycle::integer
