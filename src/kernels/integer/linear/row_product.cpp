// Note [Bands and chunks]: work items are a band of rows times a chunk of panels. A panel or two
// are read from the nearest cache by all row tiles of the band, whose codes stay in the
// second-level cache. Long sums are taken in blocks of kBlockSteps steps, for the same reason, and
// added up in 32 bits as long as those hold them: sums of more than kMaxProducts products are
// flushed into 64 bits on the way. With few rows every thread has the same panels in every call, so
// a layer that is called again and again finds them in its cache.

#include "kernels/integer/linear/row_product.h"

#include "kernels/integer/weights/weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <omp.h>

namespace bitcycle::integer {
namespace {

constexpr int kBlockSteps = 512;
constexpr int kBandBytes = 192 * 1024;
constexpr int kChunkTiles = 8;
constexpr int kBoxRows = 16;

constexpr int parts_of(int count, int most) {
  return (count + most - 1) / most;
}
// Where part `i` of `parts` equal ones begins.
constexpr int part_begin(int count, int parts, int i) {
  return static_cast<int>(std::int64_t{count} * i / parts);
}

struct Extent {
  int first;
  int count;
};
Extent part(int count, int parts, int i) {
  const int first = part_begin(count, parts, i);
  return {first, part_begin(count, parts, i + 1) - first};
}

struct RowScratch {
  AlignedBuffer<std::int16_t> words;  // of a band's block
  AlignedBuffer<std::int32_t> sums;   // [row][lane of the chunk]
  AlignedBuffer<std::int64_t> wide;   // likewise
};
RowScratch& row_scratch() {
  static thread_local RowScratch scratch;
  return scratch;
}

class RowWork {
 public:
  explicit RowWork(const RowProduct& call)
      : call_(call),
        panels_(call.panels),
        table_(microkernels()),
        kernels_(*table_.linear),
        zero_(call.rows.params.zero_point),
        blocks_(parts_of(panels_.steps(), kBlockSteps)),
        block_steps_(parts_of(panels_.steps(), blocks_)),
        slice_blocks_(kMaxProducts / (block_steps_ * products_per_step(panels_.operands))),
        bands_(parts_of(call.rows.rows, band_rows())),
        chunks_(count_chunks()) {
    assert(panels_.operands == kernels_.operands);
    assert(call.rows.width == panels_.reduced);
    boxes_.resize(static_cast<std::size_t>(call.rows.rows) + kBoxRows);
    lane_int_.resize(panels_.lane_sums.size());
    if (panels_.operands == Operands::words) return;
    for (std::size_t i = 0; i < lane_int_.size(); ++i) {
      lane_int_[i] = static_cast<std::int32_t>(-std::int64_t{zero_} * panels_.lane_sums[i]);
    }
  }

  void run() {
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (int r = 0; r < call_.rows.rows; r += kBoxRows) {
        fill_boxes({r, std::min(kBoxRows, call_.rows.rows - r)});
      }
      if (bands_ == 1) {
#pragma omp for schedule(static)
        for (int i = 0; i < chunks_; ++i) run_item(0, i);
      } else {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < bands_ * chunks_; ++i) run_item(i / chunks_, i % chunks_);
      }
    }
  }

 private:
  int band_rows() const {
    const int fit = kBandBytes / (block_steps_ * kRowStepBytes);
    return std::max(1, fit / kernels_.tile_rows) * kernels_.tile_rows;
  }
  int tiles() const {
    return parts_of(panels_of(panels_.lanes), kernels_.tile_panels);
  }
  // The same number for every thread.
  int count_chunks() const {
    const int threads = omp_get_max_threads();
    return std::min(tiles(), parts_of(parts_of(tiles(), kChunkTiles), threads) * threads);
  }
  bool wide() const {
    return blocks_ > slice_blocks_;
  }

  const std::uint8_t* codes(int row) const {
    return call_.rows.data + std::ptrdiff_t{row} * call_.rows.width;
  }

  void fill_boxes(Extent rows) {
    float* boxes = boxes_.data() + rows.first;
    const int width = call_.rows.width;
    if (!call_.box_weights.empty()) {
      return table_.weighted_pixel_sums(codes(rows.first), rows.count, width, zero_,
                                        call_.box_weights.data(), boxes);
    }
    std::int32_t sums[kBoxRows];
    table_.pixel_sums(codes(rows.first), rows.count, width, sums);
    for (int r = 0; r < rows.count; ++r) boxes[r] = static_cast<float>(sums[r] - zero_ * width);
  }

  // A band's rows as the tiles read them, from the block's first step on.
  struct RowView {
    const std::uint8_t* data;
    std::ptrdiff_t stride;
  };
  RowView view(Extent rows, Extent steps) {
    const int first = steps.first * products_per_step(panels_.operands);
    if (panels_.operands == Operands::bytes) return {codes(rows.first) + first, call_.rows.width};
    const int width = std::min(steps.count * 2, call_.rows.width - first);
    const std::ptrdiff_t stride = std::ptrdiff_t{steps.count} * 2;
    std::int16_t* words =
        row_scratch().words.reserve(static_cast<std::size_t>(rows.count * stride));
    for (int r = 0; r < rows.count; ++r) {
      kernels_.widen(codes(rows.first + r) + first, width, zero_, words + r * stride);
    }
    return {reinterpret_cast<const std::uint8_t*>(words), stride * 2};
  }

  void run_item(int band, int chunk) {
    const Extent rows = part(call_.rows.rows, bands_, band);
    const Extent tiles = part(this->tiles(), chunks_, chunk);
    const std::ptrdiff_t width = std::ptrdiff_t{tiles.count} * kernels_.tile_panels * kPanel;
    const auto size = static_cast<std::size_t>(rows.count * width);
    std::int32_t* sums = blocks_ == 1 ? nullptr : row_scratch().sums.reserve(size);
    if (wide()) std::fill_n(row_scratch().wide.reserve(size), size, 0);
    for (int block = 0; block < blocks_; ++block) {
      const int first = block * block_steps_;
      const Extent steps{first, std::min(block_steps_, panels_.steps() - first)};
      const RowView from = view(rows, steps);
      const bool start = wide() ? block % slice_blocks_ == 0 : block == 0;
      const bool end = block + 1 == blocks_;
      for (int t = 0; t < tiles.count; ++t) {
        run_tiles(from, rows, steps, tiles.first + t, !start, !wide() && end,
                  sums + std::ptrdiff_t{t} * kernels_.tile_panels * kPanel, width);
      }
      if (wide() && (end || (block + 1) % slice_blocks_ == 0)) flush(size);
    }
    if (wide()) finish_wide(rows, tiles, width);
  }

  // All rows of a band times one or two panels.
  void run_tiles(RowView from, Extent rows, Extent steps, int tile, bool add, bool finished,
                 std::int32_t* sums, std::ptrdiff_t width) {
    const int panel = tile * kernels_.tile_panels;
    const int count = std::min(kernels_.tile_panels, panels_of(panels_.lanes) - panel);
    const int parts = parts_of(rows.count, kernels_.tile_rows);
    alignas(64) std::int32_t own_sums[kMaxTileRows * kMaxTileLanes];
    const bool at_once = blocks_ == 1;
    if (at_once) width = kMaxTileLanes;
    for (int i = 0; i < parts; ++i) {
      const Extent own = part(rows.count, parts, i);
      std::int32_t* to = at_once ? own_sums : sums + own.first * width;
      kernels_.tile({.rows = from.data + own.first * from.stride,
                     .row_stride = from.stride,
                     .row_count = own.count,
                     .panels = panels_.data.data() + panel * panels_.panel_bytes() +
                               std::ptrdiff_t{steps.first} * kStepBytes,
                     .panel_stride = panels_.panel_bytes(),
                     .panel_count = count,
                     .steps = steps.count,
                     .add = add,
                     .sums = to,
                     .sum_stride = width});
      if (finished) {
        finish({rows.first + own.first, own.count}, panel * kPanel, count * kPanel, to, width);
      }
    }
  }

  void finish(Extent rows, int lane, int lanes, const std::int32_t* sums, std::ptrdiff_t width) {
    kernels_.finish({.sums = sums,
                     .sum_stride = width,
                     .rows = rows.count,
                     .lanes = std::min(lanes, panels_.lanes - lane),
                     .boxes = boxes_.data() + rows.first,
                     .lane_int = lane_int_.data() + lane,
                     .offset = call_.offset.data() + lane,
                     .scale = call_.scale.data() + lane,
                     .shift = call_.shift.empty() ? nullptr : call_.shift.data() + lane,
                     .out = call_.out.data() + std::ptrdiff_t{rows.first} * panels_.lanes + lane,
                     .out_stride = panels_.lanes});
  }

  static void flush(std::size_t size) {
    const std::int32_t* from = row_scratch().sums.data();
    std::int64_t* to = row_scratch().wide.data();
    for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
  }

  // The same as LinearKernels::finish, for sums of 64 bits.
  void finish_wide(Extent rows, Extent tiles, std::ptrdiff_t width) {
    const int first = tiles.first * kernels_.tile_panels * kPanel;
    const int last = std::min(panels_.lanes, first + static_cast<int>(width));
    const bool correct = panels_.operands == Operands::bytes;
    for (int r = 0; r < rows.count; ++r) {
      const int row = rows.first + r;
      for (int lane = first; lane < last; ++lane) {
        const auto i = static_cast<std::size_t>(lane);
        std::int64_t sum = row_scratch().wide.data()[r * width + lane - first];
        if (correct) sum -= std::int64_t{zero_} * panels_.lane_sums[i];
        float value = std::fma(call_.offset[i], boxes_[static_cast<std::size_t>(row)],
                               static_cast<float>(sum)) *
                      call_.scale[i];
        if (!call_.shift.empty()) value += call_.shift[i];
        call_.out[static_cast<std::size_t>(row) * static_cast<std::size_t>(panels_.lanes) + i] =
            value;
      }
    }
  }

  const RowProduct& call_;
  const PackedPanels& panels_;
  const Microkernels& table_;
  const LinearKernels& kernels_;
  int zero_;
  int blocks_;  // of a sum
  int block_steps_;
  int slice_blocks_;  // whose sums 32 bits hold
  int bands_;
  int chunks_;
  std::vector<float> boxes_;
  std::vector<std::int32_t> lane_int_;
};

}  // namespace

void multiply(const RowProduct& call) {
  RowWork(call).run();
}

}  // namespace bitcycle::integer
