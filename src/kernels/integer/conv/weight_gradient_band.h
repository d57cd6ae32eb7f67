#pragma once

// The products of one work item of dense backward-weights. Both operands are interleaved by 4
// pixels
// ([step][16][4]) in buffers that stay in the first two cache levels, so no transposed tensor is
// ever stored. A column is one byte of the k * C contiguous bytes under a row of taps: small
// channel counts fill panels as well.

#include "kernels/integer/conv/weight_gradient_sums.h"

#include <algorithm>
#include <cstring>

namespace bitcycle::integer {

inline constexpr std::size_t kPlanes = 2;  // of the errors, at most

// What a thread needs for a band, and forgets after it.
struct BandScratch {
  AlignedBuffer<std::int32_t> error_sums;
  AlignedBuffer<std::uint8_t> columns;
  AlignedBuffer<QuartetLevel> levels;  // of the quartets of an image
  AlignedBuffer<int> chains;
  struct Plane {
    AlignedBuffer<std::uint8_t> errors;
    std::vector<QuartetLists> quartets;  // [output panel]
  };
  std::array<Plane, kPlanes> planes;
};

// One plane of a band's errors.
struct BandPlane {
  Codes errors;
  Accumulator& sums;
  BandScratch::Plane& scratch;
  std::size_t index;  // among the planes of all kinds
  int subtract;       // what is taken off the errors, the zero point unless that does not do

  bool lacks_columns() const { return errors.params.zero_point != subtract; }
};

// What is added at once: a parcel of images, or a band of rows of one. Planes of the errors share
// the columns.
class BandWork {
 public:
  BandWork(const Layout& layout, const Microkernels& table, Codes input, BandScratch& scratch,
           int images, int band)
      : layout_(layout),
        shape_(layout.shape),
        table_(table),
        input_(input),
        scratch_(scratch),
        images_(images),
        row_(band * layout.band),
        rows_(std::min(layout.band, layout.shape.out_height() - row_)) {}

  std::int64_t pixels() const { return std::int64_t{images_} * rows_ * layout_.row_steps * 4; }

  void run(std::span<BandPlane> planes) {
    for (BandPlane& plane : planes) prepare(plane);
    for (int panel = 0; panel < layout_.column_panels; ++panel) {
      interleave_columns(panel, planes);
      for (const BandPlane& plane : planes) multiply(panel, plane);
    }
  }

 private:
  void prepare(BandPlane& plane) {
    if (input_.params.zero_point != 0) sum_errors(plane);
    // The zero point is taken off the errors. Levels can do with differences of more than 8 bits;
    // else half the errors' range is taken off, and the columns summed to make up for it.
    if (!in_quartets() && !differences_fit(plane)) plane.subtract = half_range(plane.errors.params);
    interleave_errors(plane);
    if (!in_quartets()) return;
    plane.scratch.quartets.resize(static_cast<std::size_t>(layout_.output_panels));
    for (int out = 0; out < layout_.output_panels; ++out) sort_quartets(plane, out);
  }

  const std::uint8_t* error_row(const BandPlane& plane, int n, int y) const {
    const CodeGrid grid = shape_.error_grid();
    return plane.errors.data + n * grid.image_bytes() + (row_ + y + grid.halo) * grid.row_bytes() +
           std::ptrdiff_t{grid.halo} * grid.channels;
  }

  bool differences_fit(const BandPlane& plane) const {
    const Span span = byte_differences(plane.errors.params.zero_point);
    bool fit = true;
    for (int i = 0; i < images_ * rows_ && fit; ++i) {
      fit = table_.within(error_row(plane, i / rows_, i % rows_),
                          std::ptrdiff_t{shape_.out_width()} * shape_.out_channels, span);
    }
    return fit;
  }

  void sum_errors(const BandPlane& plane) {
    const int channels = shape_.out_channels;
    const int zero = plane.errors.params.zero_point;
    std::int32_t* sums = scratch_.error_sums.reserve(static_cast<std::size_t>(channels));
    std::fill_n(sums, channels, 0);
    for (int i = 0; i < images_ * rows_; ++i) {
      const std::uint8_t* e = error_row(plane, i / rows_, i % rows_);
      for (int x = 0; x < shape_.out_width(); ++x, e += channels) {
        for (int c = 0; c < channels; ++c) sums[c] += e[c] - zero;
      }
    }
    for (int c = 0; c < channels; ++c) plane.sums.error_sums.data()[c] += sums[c];
  }

  std::uint8_t* error_panel(const BandPlane& plane, int panel) const {
    return plane.scratch.errors.data() + panel * layout_.parcel * layout_.error_image_bytes;
  }

  const std::int8_t* signed_panel(const BandPlane& plane, int panel) const {
    return reinterpret_cast<const std::int8_t*>(error_panel(plane, panel));
  }

  void interleave_errors(const BandPlane& plane) {
    plane.scratch.errors.reserve(static_cast<std::size_t>(layout_.output_panels) * layout_.parcel *
                                 static_cast<std::size_t>(layout_.error_image_bytes));
    for (int panel = 0; panel < layout_.output_panels; ++panel) {
      for (int n = 0; n < images_; ++n) {
        std::uint8_t* to = error_panel(plane, panel) + n * layout_.error_image_bytes;
        for (int y = 0; y < rows_; ++y, to += layout_.row_bytes) {
          table_.interleave(error_row(plane, n, y) + panel * kPanel, shape_.out_channels,
                            shape_.out_width(), static_cast<std::uint8_t>(plane.subtract), to);
        }
        const std::uint8_t* end = error_panel(plane, panel) + (n + 1) * layout_.error_image_bytes;
        std::memset(to, 0, static_cast<std::size_t>(end - to));
      }
    }
  }

  // Source rows are kept by parity, so that the rows under one ky are contiguous for any stride.
  void interleave_columns(int panel, std::span<const BandPlane> planes) {
    const CodeGrid grid = shape_.input_grid();
    // The last quartet of an image may reach past its columns.
    std::uint8_t* columns = scratch_.columns.reserve(
        static_cast<std::size_t>(layout_.parcel * layout_.column_image_bytes) +
        kQuartetSteps * kStepBytes);
    for (int n = 0; n < images_; ++n) {
      const std::uint8_t* image = input_.data + n * grid.image_bytes() +
                                  std::ptrdiff_t{row_} * shape_.stride * grid.row_bytes() +
                                  panel * kPanel;
      for (int parity = 0; parity < std::min(shape_.stride, shape_.kernel); ++parity) {
        interleave_parity(panel, parity, planes, image,
                          columns + n * layout_.column_image_bytes + column_row(parity, 0));
      }
    }
  }

  void interleave_parity(int panel, int parity, std::span<const BandPlane> planes,
                         const std::uint8_t* image, std::uint8_t* to) {
    const bool summed = std::ranges::any_of(planes, &BandPlane::lacks_columns);
    const CodeGrid grid = shape_.input_grid();
    const int source_rows = (rows_ - 1) * shape_.stride + shape_.kernel;
    for (int y = parity; y < source_rows; y += shape_.stride, to += layout_.row_bytes) {
      table_.interleave(image + y * grid.row_bytes(), std::ptrdiff_t{shape_.stride} * grid.channels,
                        shape_.out_width(), 0, to);
      if (summed) sum_columns(panel, y, to, planes);
    }
  }

  std::ptrdiff_t column_row(int parity, int index) const {
    return (std::ptrdiff_t{parity} * layout_.phase_rows + index) * layout_.row_bytes;
  }

  void sum_columns(int panel, int y, const std::uint8_t* row, std::span<const BandPlane> planes) {
    std::int32_t sums[kPanel];
    table_.step_sums(row, layout_.row_steps, sums);
    for (const BandPlane& plane : planes) {
      if (plane.lacks_columns()) add_columns(panel, y, sums, plane.sums);
    }
  }

  // Adds a row's column sums to every ky under which it lies.
  void add_columns(int panel, int y, const std::int32_t* sums, Accumulator& to_sums) {
    to_sums.has_column_sums = true;
    for (int ky = y % shape_.stride; ky < shape_.kernel; ky += shape_.stride) {
      if (y < ky || (y - ky) / shape_.stride >= rows_) continue;
      std::int64_t* to =
          to_sums.column_sums.data() + (std::ptrdiff_t{panel} * shape_.kernel + ky) * kPanel;
      for (int c = 0; c < kPanel; ++c) to[c] += sums[c];
    }
  }

  void multiply(int panel, const BandPlane& plane) {
    const int at_once = in_quartets() ? 1 : table_.outer_rows;
    for (int out = 0; out < layout_.output_panels; ++out) {
      for (int ky = 0; ky < shape_.kernel; ky += at_once) {
        const std::ptrdiff_t tile =
            (std::ptrdiff_t{panel} * shape_.kernel + ky) * layout_.output_panels + out;
        std::int32_t* sums = plane.sums.tiles.data() + tile * kTile;
        if (in_quartets()) {
          multiply_quartets(plane, out, tap_columns(ky), sums);
        } else {
          multiply_rows(ky, std::min(at_once, shape_.kernel - ky), signed_panel(plane, out), sums);
        }
      }
    }
  }

  const std::uint8_t* tap_columns(int ky) const {
    return scratch_.columns.data() + column_row(ky % shape_.stride, ky / shape_.stride);
  }

  void multiply_rows(int ky, int rows, const std::int8_t* errors, std::int32_t* sums) {
    OuterJob job{.columns = tap_columns(ky),
                 .errors = errors,
                 .images = images_,
                 .column_stride = layout_.column_image_bytes,
                 .error_stride = layout_.error_image_bytes,
                 .steps = rows_ * layout_.row_steps,
                 .sums = sums,
                 .rows = rows,
                 .row_sums = std::ptrdiff_t{layout_.output_panels} * kTile};
    for (int r = 0; r < rows; ++r) {
      job.row_columns[std::size_t(r)] = tap_columns(ky + r) - job.columns;
    }
    table_.outer(job);
  }

  bool in_quartets() const { return table_.saturates; }
  int quartets() const { return (rows_ * layout_.row_steps + kQuartetSteps - 1) / kQuartetSteps; }

  void sort_quartets(const BandPlane& plane, int panel) {
    QuartetLists& lists = plane.scratch.quartets[static_cast<std::size_t>(panel)];
    QuartetLevel* levels = scratch_.levels.reserve(static_cast<std::size_t>(quartets()));
    int* chains = scratch_.chains.reserve(static_cast<std::size_t>(quartets()));
    for (std::vector<QuartetChain>& list : lists) list.clear();
    for (int n = 0; n < images_; ++n) {
      const std::ptrdiff_t first = n * layout_.error_image_bytes;
      table_.survey_quartets({.panel = error_panel(plane, panel) + first,
                              .quartets = quartets(),
                              .zero = plane.subtract,
                              .limit = signed_limit(input_.params.bits),
                              .levels = levels,
                              .chains = chains});
      for (int u = 0; u < quartets(); u += chains[u]) {
        const int at = u * kQuartetSteps * kStepBytes;
        lists[std::size_t(levels[u])].push_back(
            {static_cast<std::int32_t>(n * layout_.column_image_bytes + at),
             static_cast<std::int32_t>(first + at), chains[u]});
      }
    }
  }

  void multiply_quartets(const BandPlane& plane, int panel, const std::uint8_t* columns,
                         std::int32_t* sums) {
    const QuartetLists& lists = plane.scratch.quartets[static_cast<std::size_t>(panel)];
    for (std::size_t level = 0; level < kQuartetLevels; ++level) {
      if (lists[level].empty()) continue;
      table_.quartets[level]({.columns = columns,
                              .errors = signed_panel(plane, panel),
                              .chains = lists[level],
                              .zero = plane.subtract,
                              .sums = sums});
    }
  }

  const Layout& layout_;
  const ConvShape& shape_;
  const Microkernels& table_;
  Codes input_;
  BandScratch& scratch_;
  int images_;
  int row_;
  int rows_;
};

}  // namespace bitcycle::integer
