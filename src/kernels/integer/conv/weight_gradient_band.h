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

// What is added at once: a parcel of images, or a band of rows of one.
class BandWork {
 public:
  BandWork(const Layout& layout, const Microkernels& table, Codes input, Codes errors,
           Accumulator& sums, int images, int band)
      : layout_(layout),
        shape_(layout.shape),
        table_(table),
        input_(input),
        errors_(errors),
        sums_(sums),
        images_(images),
        row_(band * layout.band),
        rows_(std::min(layout.band, layout.shape.out_height() - row_)),
        subtract_(errors.params.zero_point) {}

  std::int64_t pixels() const { return std::int64_t{images_} * rows_ * layout_.row_steps * 4; }

  void run() {
    if (input_.params.zero_point != 0) sum_errors();
    // The zero point is taken off the errors. Levels can do with differences of more than 8 bits;
    // else half the errors' range is taken off, and the columns summed to make up for it.
    if (!in_quartets() && !differences_fit()) subtract_ = half_range(errors_.params);
    interleave_errors();
    if (in_quartets()) {
      sums_.quartets.resize(static_cast<std::size_t>(layout_.output_panels));
      for (int out = 0; out < layout_.output_panels; ++out)
        sort_quartets(out, sums_.quartets[std::size_t(out)]);
    }
    for (int panel = 0; panel < layout_.column_panels; ++panel) {
      interleave_columns(panel);
      multiply(panel);
    }
  }

 private:
  const std::uint8_t* error_row(int n, int y) const {
    const CodeGrid grid = shape_.error_grid();
    return errors_.data + n * grid.image_bytes() + (row_ + y + grid.halo) * grid.row_bytes() +
           std::ptrdiff_t{grid.halo} * grid.channels;
  }

  bool differences_fit() const {
    const Span span = byte_differences(errors_.params.zero_point);
    bool fit = true;
    for (int i = 0; i < images_ * rows_ && fit; ++i) {
      fit = table_.within(error_row(i / rows_, i % rows_),
                          std::ptrdiff_t{shape_.out_width()} * shape_.out_channels, span);
    }
    return fit;
  }

  void sum_errors() {
    const int channels = shape_.out_channels;
    const int zero = errors_.params.zero_point;
    std::int32_t* sums = sums_.band_sums.reserve(static_cast<std::size_t>(channels));
    std::fill_n(sums, channels, 0);
    for (int i = 0; i < images_ * rows_; ++i) {
      const std::uint8_t* e = error_row(i / rows_, i % rows_);
      for (int x = 0; x < shape_.out_width(); ++x, e += channels) {
        for (int c = 0; c < channels; ++c) sums[c] += e[c] - zero;
      }
    }
    for (int c = 0; c < channels; ++c) sums_.error_sums.data()[c] += sums[c];
  }

  std::uint8_t* error_panel(int panel) {
    return sums_.errors.data() + panel * layout_.parcel * layout_.error_image_bytes;
  }

  void interleave_errors() {
    sums_.errors.reserve(static_cast<std::size_t>(layout_.output_panels) * layout_.parcel *
                         static_cast<std::size_t>(layout_.error_image_bytes));
    for (int panel = 0; panel < layout_.output_panels; ++panel) {
      for (int n = 0; n < images_; ++n) {
        std::uint8_t* to = error_panel(panel) + n * layout_.error_image_bytes;
        for (int y = 0; y < rows_; ++y, to += layout_.row_bytes) {
          table_.interleave(error_row(n, y) + panel * kPanel, shape_.out_channels,
                            shape_.out_width(), static_cast<std::uint8_t>(subtract_), to);
        }
        const std::uint8_t* end = error_panel(panel) + (n + 1) * layout_.error_image_bytes;
        std::memset(to, 0, static_cast<std::size_t>(end - to));
      }
    }
  }

  // Source rows are kept by parity, so that the rows under one ky are contiguous for any stride.
  void interleave_columns(int panel) {
    const CodeGrid grid = shape_.input_grid();
    // The last quartet of an image may reach past its columns.
    std::uint8_t* columns = sums_.columns.reserve(
        static_cast<std::size_t>(layout_.parcel * layout_.column_image_bytes) +
        kQuartetSteps * kStepBytes);
    for (int n = 0; n < images_; ++n) {
      const std::uint8_t* image = input_.data + n * grid.image_bytes() +
                                  std::ptrdiff_t{row_} * shape_.stride * grid.row_bytes() +
                                  panel * kPanel;
      for (int parity = 0; parity < std::min(shape_.stride, shape_.kernel); ++parity) {
        interleave_parity(panel, parity, image,
                          columns + n * layout_.column_image_bytes + column_row(parity, 0));
      }
    }
  }

  void interleave_parity(int panel, int parity, const std::uint8_t* image, std::uint8_t* to) {
    const CodeGrid grid = shape_.input_grid();
    const int source_rows = (rows_ - 1) * shape_.stride + shape_.kernel;
    for (int y = parity; y < source_rows; y += shape_.stride, to += layout_.row_bytes) {
      table_.interleave(image + y * grid.row_bytes(), std::ptrdiff_t{shape_.stride} * grid.channels,
                        shape_.out_width(), 0, to);
      if (errors_.params.zero_point != subtract_) sum_columns(panel, y, to);
    }
  }

  std::ptrdiff_t column_row(int parity, int index) const {
    return (std::ptrdiff_t{parity} * layout_.phase_rows + index) * layout_.row_bytes;
  }

  // Adds a row's column sums to every ky under which it lies.
  void sum_columns(int panel, int y, const std::uint8_t* row) {
    std::int32_t sums[kPanel];
    table_.step_sums(row, layout_.row_steps, sums);
    sums_.has_column_sums = true;
    for (int ky = y % shape_.stride; ky < shape_.kernel; ky += shape_.stride) {
      if (y < ky || (y - ky) / shape_.stride >= rows_) continue;
      std::int64_t* to =
          sums_.column_sums.data() + (std::ptrdiff_t{panel} * shape_.kernel + ky) * kPanel;
      for (int c = 0; c < kPanel; ++c) to[c] += sums[c];
    }
  }

  void multiply(int panel) {
    const int at_once = in_quartets() ? 1 : table_.outer_rows;
    for (int out = 0; out < layout_.output_panels; ++out) {
      for (int ky = 0; ky < shape_.kernel; ky += at_once) {
        const std::ptrdiff_t tile =
            (std::ptrdiff_t{panel} * shape_.kernel + ky) * layout_.output_panels + out;
        std::int32_t* sums = sums_.tiles.data() + tile * kTile;
        const auto* errors = reinterpret_cast<const std::int8_t*>(error_panel(out));
        if (in_quartets()) {
          multiply_quartets(sums_.quartets[std::size_t(out)], tap_columns(ky), errors, sums);
        } else {
          multiply_rows(ky, std::min(at_once, shape_.kernel - ky), errors, sums);
        }
      }
    }
  }

  const std::uint8_t* tap_columns(int ky) const {
    return sums_.columns.data() + column_row(ky % shape_.stride, ky / shape_.stride);
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

  void sort_quartets(int panel, QuartetLists& lists) {
    QuartetLevel* levels = sums_.levels.reserve(static_cast<std::size_t>(quartets()));
    int* chains = sums_.chains.reserve(static_cast<std::size_t>(quartets()));
    for (std::vector<QuartetChain>& list : lists) list.clear();
    for (int n = 0; n < images_; ++n) {
      const std::ptrdiff_t first = n * layout_.error_image_bytes;
      table_.survey_quartets({.panel = error_panel(panel) + first,
                              .quartets = quartets(),
                              .zero = subtract_,
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

  void multiply_quartets(const QuartetLists& lists, const std::uint8_t* columns,
                         const std::int8_t* errors, std::int32_t* sums) {
    for (std::size_t level = 0; level < kQuartetLevels; ++level) {
      if (lists[level].empty()) continue;
      table_.quartets[level]({.columns = columns,
                              .errors = errors,
                              .chains = lists[level],
                              .zero = subtract_,
                              .sums = sums});
    }
  }

  const Layout& layout_;
  const ConvShape& shape_;
  const Microkernels& table_;
  Codes input_;
  Codes errors_;
  Accumulator& sums_;
  int images_;
  int row_;
  int rows_;
  int subtract_;
};

}  // namespace bitcycle::integer
