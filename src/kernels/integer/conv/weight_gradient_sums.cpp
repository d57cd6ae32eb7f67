#include "kernels/integer/conv/weight_gradient_sums.h"

namespace bitcycle::integer {
namespace {

enum class Kinds { first, further };

void add(std::int64_t* to, const auto* from, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
}

}  // namespace

std::int64_t PlaneTotal::lacking(int out) const {
  return corrections.zero != 0 ? corrections.zero * total.error_sum(out) : 0;
}

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

// What the columns of a tile lack, the same for every output.
template <typename Sum>
void Total::add_columns(const TileOf& tile, int shift, Sum* sums) const {
  const auto add_shifted = [&](const std::int64_t* column_sums) {
    for (int c = 0; c < kPanel; ++c) {
      sums[c] += static_cast<Sum>(shift * column_sums[tile.column * kPanel + c]);
    }
  };
  if (emptied_) add_shifted(column_sums_.data());
  for (const Accumulator* part : parts_) {
    if (part != nullptr && part->has_column_sums) add_shifted(part->column_sums.data());
  }
}

template <typename Sum>
void Total::add_products(const TileOf& tile, int out, Sum* sums) const {
  const std::ptrdiff_t at = tile.index() * kTile + out % kPanel * kPanel;
  const auto add_tile = [&](const auto* tiles) {
    for (int c = 0; c < kPanel; ++c) sums[c] += static_cast<Sum>(tiles[at + c]);
  };
  if (emptied_) add_tile(tiles_.data());
  for (const Accumulator* part : parts_) {
    if (part != nullptr) add_tile(part->tiles.data());
  }
}

// (e - z_e)(q - z_a) = (e - h) q + (h - z_e) q - z_a (e - z_e), with h what was taken off.
template <typename Sum, Kinds kKinds>
static void finish_in(const TileOf& tile, const KindTotal& kind, std::span<float> gradient) {
  const ConvShape& s = tile.layout.shape;
  const int row = s.kernel * s.in_channels;
  const int first = tile.column / s.kernel * kPanel;
  const int count = std::min(kPanel, row - first);
  const int last = std::min(s.out_channels, (tile.panel + 1) * kPanel);
  Sum columns[kPanel] = {};
  for (const PlaneTotal& plane : kind.planes) {
    plane.total.add_columns(tile, plane.corrections.shift * plane.worth, columns);
  }
  for (int out = tile.panel * kPanel; out < last; ++out) {
    Sum sums[kPanel];
    std::copy_n(columns, kPanel, sums);
    for (const PlaneTotal& plane : kind.planes) {
      Sum own[kPanel];
      std::fill_n(own, kPanel, static_cast<Sum>(-plane.lacking(out)));
      plane.total.add_products(tile, out, own);
      for (int c = 0; c < kPanel; ++c) sums[c] += static_cast<Sum>(plane.worth) * own[c];
    }
    const double factor = kind.factors[static_cast<std::size_t>(out)];
    float* to =
        gradient.data() + (std::ptrdiff_t{out} * s.kernel + tile.column % s.kernel) * row + first;
    float gradients[kPanel];
    for (int c = 0; c < kPanel; ++c) {
      gradients[c] = static_cast<float>(static_cast<double>(sums[c]) * factor);
    }
    if constexpr (kKinds == Kinds::further) {
      for (int c = 0; c < count; ++c) gradients[c] += to[c];
    }
    std::copy_n(gradients, count, to);
  }
}

// Doubles are faster than 64-bit integers here, and as exact where sums are small.
template <Kinds kKinds>
static void finish_kind(const TileOf& tile, const KindTotal& kind, std::span<float> gradient) {
  const auto is_small = [](const PlaneTotal& plane) { return plane.total.is_small(); };
  std::ranges::all_of(kind.planes, is_small)
      ? finish_in<double, kKinds>(tile, kind, gradient)
      : finish_in<std::int64_t, kKinds>(tile, kind, gradient);
}

void finish(const TileOf& tile, std::span<const KindTotal> kinds, std::span<float> gradient) {
  finish_kind<Kinds::first>(tile, kinds.front(), gradient);
  for (const KindTotal& kind : kinds.subspan(1)) {
    finish_kind<Kinds::further>(tile, kind, gradient);
  }
}

}  // namespace bitcycle::integer
