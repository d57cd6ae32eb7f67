#include "kernels/integer/conv/weight_gradient_sums.h"

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

void Total::add_columns(const TileOf& tile, int out, int shift, std::int64_t* sums) const {
  const std::ptrdiff_t at = tile.index() * kTile + out % kPanel * kPanel;
  const auto add_tile = [&](const auto* tiles) {
    for (int c = 0; c < kPanel; ++c) sums[c] += tiles[at + c];
  };
  const auto add_shifted = [&](const std::int64_t* column_sums) {
    for (int c = 0; c < kPanel; ++c) sums[c] += shift * column_sums[tile.column * kPanel + c];
  };
  if (emptied_) {
    add_tile(tiles_.data());
    add_shifted(column_sums_.data());
  }
  for (const Accumulator* part : parts_) {
    if (part == nullptr) continue;
    add_tile(part->tiles.data());
    if (part->has_column_sums) add_shifted(part->column_sums.data());
  }
}

// (e - z_e)(q - z_a) = (e - h) q + (h - z_e) q - z_a (e - z_e), with h what was taken off.
void Total::add_sums(const TileOf& tile, int out, Corrections corrections,
                     std::int64_t* sums) const {
  const std::int64_t lacking = corrections.zero != 0 ? corrections.zero * error_sum(out) : 0;
  for (int c = 0; c < kPanel; ++c) sums[c] -= lacking;
  add_columns(tile, out, corrections.shift, sums);
}

void finish(const TileOf& tile, std::span<const PlaneTotal> planes, std::span<const double> factors,
            std::span<float> gradient) {
  const ConvShape& s = tile.layout.shape;
  const int row = s.kernel * s.in_channels;
  const int first = tile.column / s.kernel * kPanel;
  const int count = std::min(kPanel, row - first);
  const int last = std::min(s.out_channels, (tile.panel + 1) * kPanel);
  for (int out = tile.panel * kPanel; out < last; ++out) {
    std::int64_t sums[kPanel] = {};
    for (const PlaneTotal& plane : planes) {
      std::int64_t own[kPanel] = {};
      plane.total.add_sums(tile, out, plane.corrections, own);
      for (int c = 0; c < kPanel; ++c) sums[c] += plane.worth * own[c];
    }
    const double factor = factors[static_cast<std::size_t>(out)];
    float* to =
        gradient.data() + (std::ptrdiff_t{out} * s.kernel + tile.column % s.kernel) * row + first;
    for (int c = 0; c < count; ++c) {
      to[c] = static_cast<float>(static_cast<double>(sums[c]) * factor);
    }
  }
}

}  // namespace bitcycle::integer
