#pragma once

// Note [Winograd].
// A 3x3 convolution of stride 1 makes 4 outputs (a tile of 2x2) of 4x4 inputs d by 16 products a
// channel in place of 36: 2x2 outputs = A^T [(G g G^T) * (B^T d B)] A, * by elements, with
//     B^T = 1  0 -1  0    2 G = 2  0  0    A^T = 1  1  1  0
//           0  1  1  0          1  1  1          0  1 -1 -1
//           0 -1  1  0          1 -1  1
//           0  1  0 -1          0  0  2
// The 16 elements are called points. With 2 G for G everything is an integer and the result is 4
// times the convolution, so that it stays exact and no other path gives other bytes:
//   - Codes in [0, L] have points in [-2L, 2L], one of the 16 in [0, 4L]. All but that one are
//     raised by 2L to unsigned bytes of at most 4L. Weights of b bits have points of at most
//     9 * 2^(b-1), bytes up to 4 bits whatever the weights are and nearly always at 5; the
//     weights at hand tell, and whether vpmaddubsw's sum of two products could saturate.
//   - 16-bit sums of products wrap around, on the way through A^T and A as well. That does no harm
//     as long as what comes out fits 16 bits. To keep it small it is made to be 4 * SUM w (u - M)
//     of a lane's channels, with M in the middle of the codes: |u - M| <= M = 2^(bits-1), so it is
//     at most 4 M SUM |w|. The weights tell how many channels, in groups of slices of 16, may be
//     added up before they are widened to 32 bits. With codes and weights of up to 4 bits a slice
//     always fits; normally distributed weights fit up to 384 channels at 3 bits, 64 at 4 and 16
//     at 5.
//   - The raise and M are taken off once a tile and group, in what its sums start from: raising all
//     points by 1 is adding the image d d^T, d = (2, 0, 1, -1), to the tile, as
//     B^T d = (1, 1, 1, 1). The point that is not raised has A^T = 1 all over.
// M SUM w goes back in 32 bits, together with what zero points need.
// Where products are added up in 32 bits at once (vpdpbusd), all channels are one group, and codes
// of up to 6 bits always fit where the weights' points are bytes.

#include <cstddef>
#include <cstdint>
#include <span>

namespace bitcycle::integer {

inline constexpr int kPoints = 16;
inline constexpr int kTileTaps = 9;
inline constexpr int kTileOutputs = 4;
inline constexpr int kLanes = 32;  // 16-bit sums of a panel: a channel has one a half of a step
inline constexpr int kSliceChannels = 16;
inline constexpr int kWinogradCodeBits = 6;
inline constexpr int kWinogradWeightBits = 5;

constexpr int largest_code_point(int bits) {
  return 4 * ((1 << bits) - 1);
}
static_assert(largest_code_point(kWinogradCodeBits) <= 255);

// The kernels take 16 channels, or a multiple of 32.
constexpr bool winograd_channels(int channels) {
  return channels == 16 || channels % 32 == 0;
}

// Codes to raised points, for two or more tiles in a row.
struct TransformJob {
  const std::uint8_t* source;  // the first tile's first byte
  std::ptrdiff_t row_bytes;
  int channels;
  int tiles;
  int raise;
  std::uint8_t* points;  // [point][tile][channel]
  std::ptrdiff_t point_bytes;
};

// Points to the sums of a panel's channels, for whole rows of tiles.
struct TilesJob {
  const std::uint8_t* points;
  std::ptrdiff_t point_bytes;
  int channels;
  int tiles;
  int columns;                     // tiles of a row
  const std::int8_t* panel;        // [point][step][16][4]
  std::span<const int> groups;     // where each group of channels ends
  const std::int16_t* start;       // [2][2][16][2], of the 16-bit lanes of a group
  std::ptrdiff_t group_start;      // from one group's to the next
  const std::int32_t* wide_start;  // [2][2][16], in place of groups where sums are wide
  std::int32_t* sums;              // [pixel][16]
};

// In how many bits products are added up: 16, which they must fit, or 32.
enum class TileSums { narrow, wide };

// Null where a set has none.
struct WinogradKernels {
  void (*transform)(const TransformJob&) = nullptr;
  void (*multiply)(const TilesJob&) = nullptr;
  TileSums sums = TileSums::narrow;
};

}  // namespace bitcycle::integer
