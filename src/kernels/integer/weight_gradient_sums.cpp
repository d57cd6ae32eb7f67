#include "kernels/integer/weight_gradient_sums.h"

namespace bitcycle::integer {
namespace {

void add(std::int64_t* to, const auto* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
}

}  // namespace

void Total::empty(Accumulator& own, const Layout& layout) {
  const std::size_t size = layout.tiles() * kTile;
  if (!emptied_) {
    std::fill_n(tiles_.reserve(size), size, 0);
    std::fill_n(column_sums_.reserve(layout.columns()), layout.columns(), 0);
    std::fill_n(error_sums_.reserve(layout.outputs()), layout.outputs(), 0);
    emptied_ = true;
  }
  add(tiles_.data(), own.tiles.data(), size);
  add(column_sums_.data(), own.column_sums.data(), layout.columns());
  add(error_sums_.data(), own.error_sums.data(), layout.outputs());
  own.clear(layout);
}

std::int64_t Total::error_sum(int out) const {
  std::int64_t sum = emptied_ ? error_sums_.data()[out] : 0;
  for (const Accumulator* part : parts_) {
    if (part != nullptr) sum += part->error_sums.data()[out];
  }
  return sum;
}

// Adds one output's sums with the 16 columns of a panel and row of taps.
void Total::add_columns(const Layout& layout, std::ptrdiff_t column, int out, int shift,
                        std::int64_t* sums) const {
  const std::ptrdiff_t tile = column * layout.output_panels + out / kPanel;
  const std::ptrdiff_t at = tile * kTile + out % kPanel * kPanel;
  const auto add_part = [&](const auto* tiles, const std::int64_t* column_sums) {
    for (int c = 0; c < kPanel; ++c) sums[c] += tiles[at + c];
    if (shift == 0) return;
    for (int c = 0; c < kPanel; ++c) sums[c] += shift * column_sums[column * kPanel + c];
  };
  if (emptied_) add_part(tiles_.data(), column_sums_.data());
  for (const Accumulator* part : parts_) {
    if (part != nullptr) add_part(part->tiles.data(), part->column_sums.data());
  }
}

// (e - z_e)(q - z_a) = (e - h) q + (h - z_e) q - z_a (e - z_e), with h what was taken off.
void Total::finish(const Layout& layout, int out, int shift, int zero, double factor,
                   float* gradient) const {
  const ConvShape& s = layout.shape;
  const std::int64_t constant = -std::int64_t{zero} * error_sum(out);
  for (int column = 0; column < layout.column_panels * s.kernel; ++column) {
    std::int64_t sums[kPanel];
    std::fill_n(sums, kPanel, constant);
    add_columns(layout, column, out, shift, sums);
    const int ky = column % s.kernel;
    const int first = column / s.kernel * kPanel;
    const int count = std::min(kPanel, s.kernel * s.in_channels - first);
    float* to = gradient + std::ptrdiff_t{ky} * s.kernel * s.in_channels + first;
    for (int c = 0; c < count; ++c) {
      to[c] = static_cast<float>(static_cast<double>(sums[c]) * factor);
    }
  }
}

}  // namespace bitcycle::integer
