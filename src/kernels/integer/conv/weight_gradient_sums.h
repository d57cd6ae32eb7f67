#pragma once

// How a dense backward-weights call is cut into work items, and the integer sums that it gathers.

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bitcycle::integer {

inline constexpr int kTile = kPanel * kPanel;  // 16 outputs x 16 columns
inline constexpr int kFewSteps = 128;          // images are grouped until a run has this many steps
inline constexpr int kManySteps =
    512;  // and large ones cut into bands of rows of at most this many

inline int half_range(CodeParams errors) {
  return 1 << (errors.bits - 1);
}

// Products that a 32-bit tile may hold: of codes and differences of codes.
inline std::int64_t tile_limit(CodeParams input, CodeParams errors) {
  return std::numeric_limits<std::int32_t>::max() /
         (std::int64_t{input.largest_code()} * errors.largest_code());
}

// How the call is cut into work items, and where things lie.
struct Layout {
  ConvShape shape;
  int row_steps;  // steps of a row of output pixels
  int band;       // output rows that are added at once
  int bands;
  int parcel;         // images that are added at once
  int column_panels;  // of k * C columns
  int output_panels;
  int phase_rows;                     // source rows of one parity in a band
  std::ptrdiff_t row_bytes;           // of an interleaved row
  std::ptrdiff_t column_image_bytes;  // [parity][row][step][16][4]
  int quartets;                       // of an image's band, the last one filled up with zeros
  std::ptrdiff_t error_image_bytes;   // [row][step][16][4], whole quartets

  explicit Layout(const ConvShape& s) : shape(s) {
    row_steps = (s.out_width() + 3) / 4;
    band = std::clamp(kManySteps / row_steps, 1, s.out_height());
    bands = (s.out_height() + band - 1) / band;
    parcel = bands > 1 ? 1 : std::clamp(kFewSteps / (row_steps * band), 1, s.batch);
    column_panels = panels_of(s.kernel * s.in_channels);
    output_panels = panels_of(s.out_channels);
    phase_rows = band + (s.kernel - 1) / s.stride;
    row_bytes = std::ptrdiff_t{row_steps} * kStepBytes;
    column_image_bytes = row_bytes * phase_rows * s.stride;
    quartets = (band * row_steps + kQuartetSteps - 1) / kQuartetSteps;
    error_image_bytes = std::ptrdiff_t{quartets} * kQuartetSteps * kStepBytes;
  }
  std::size_t tiles() const {
    return static_cast<std::size_t>(column_panels) * shape.kernel * output_panels;
  }
  std::size_t columns() const {
    return static_cast<std::size_t>(column_panels) * shape.kernel * kPanel;
  }
  std::size_t outputs() const { return static_cast<std::size_t>(shape.out_channels); }
};

// The quartets of an output panel by level.
using QuartetLists = std::array<std::vector<QuartetChain>, kQuartetLevels>;

// What a thread adds up of one kind and plane. Tiles are 32 bits wide and emptied into the total
// before they could overflow.
struct Accumulator {
  AlignedBuffer<std::int32_t> tiles;        // [column panel][ky][output panel][16][16]
  AlignedBuffer<std::int64_t> column_sums;  // [column panel][ky][16]
  bool has_column_sums = false;             // whether any was needed
  AlignedBuffer<std::int64_t> error_sums;   // [output channel]
  std::int64_t pixels = 0;

  void clear(const Layout& layout) {
    std::fill_n(tiles.reserve(layout.tiles() * kTile), layout.tiles() * kTile, 0);
    std::fill_n(column_sums.reserve(layout.columns()), layout.columns(), 0);
    std::fill_n(error_sums.reserve(layout.outputs()), layout.outputs(), 0);
    has_column_sums = false;
    pixels = 0;
  }
};

// 16 columns under a row of taps, times 16 outputs.
struct TileOf {
  const Layout& layout;
  int column;  // panel of columns * kernel + row of taps
  int panel;   // of outputs

  std::ptrdiff_t index() const { return std::ptrdiff_t{column} * layout.output_panels + panel; }
};

struct Corrections {
  int shift;  // what the errors of the columns summed up lack
  int zero;   // the input's zero point
};

class Total;

// The sums with one plane of the errors, and what each is worth.
struct PlaneTotal {
  const Total& total;
  Corrections corrections;
  int worth;

  // What the products with an output lack for the input's zero point.
  std::int64_t lacking(int out) const;
};

// The sums of one kind, and what they are worth per output channel.
struct KindTotal {
  std::vector<PlaneTotal> planes;
  std::span<const double> factors;
};
// The gradients of a tile, added up in the order of kinds.
void finish(const TileOf& tile, std::span<const KindTotal> kinds, std::span<float> gradient);

// The sums of all threads: what they hold themselves, and what had to be emptied in time. Integers,
// so the order does not matter.
class Total {
 public:
  void start(std::size_t threads) {
    parts_.assign(threads, nullptr);
    emptied_ = false;
  }
  void join(std::size_t thread, const Accumulator& part) { parts_[thread] = &part; }
  // Called by one thread at a time.
  void empty(Accumulator& own, const Layout& layout);

  std::int64_t error_sum(int out) const;
  template <typename Sum>
  void add_columns(const TileOf& tile, int shift, Sum* sums) const;
  // Adds the products of an output with the 16 columns of a tile.
  template <typename Sum>
  void add_products(const TileOf& tile, int out, Sum* sums) const;
  // Whether the sums of each thread fit 32 bits, so that doubles hold their total exactly.
  bool is_small() const { return !emptied_; }

 private:
  AlignedBuffer<std::int64_t> tiles_;
  AlignedBuffer<std::int64_t> column_sums_;
  AlignedBuffer<std::int64_t> error_sums_;
  bool emptied_ = false;
  std::vector<const Accumulator*> parts_;
};

}  // namespace bitcycle::integer
