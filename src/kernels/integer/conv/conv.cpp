// The forward convolution in terms of the shared driver: which codes are gathered, and what the
// integer sums are worth. Note [Integer scheme] in docs/numerics.md has the equations.

#include "bitcycle/kernels/integer/conv.h"

#include "kernels/integer/codes/codes_at_hand.h"
#include "kernels/integer/conv/conv_grouped.h"
#include "kernels/integer/gather/gather.h"
#include "kernels/integer/gather/kind_gather.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace bitcycle::integer {
namespace {

std::vector<float> forward_scales(float activation_scale, const ConvWeights& weights) {
  std::vector<float> scales(weights.scales().begin(), weights.scales().end());
  for (float& scale : scales) scale *= activation_scale;
  return to_panels(scales, static_cast<int>(scales.size()));
}

// `stats` and `parcels` are left to the caller.
Gather forward_gather(const ConvShape& shape, const CodeParams& params, const ConvWeights& weights,
                      std::span<const float> offsets, std::span<const float> scales,
                      MutableReal output) {
  const ConvWeights::State& state = weights.state();
  return {.grid = shape.input_grid(),
          .params = params,
          .weight_bits = state.bits,
          .phases = {&state.forward, 1},
          .stride = 1,
          .out_height = shape.out_height(),
          .out_width = shape.out_width(),
          .box = shape.depthwise() ? Box::channel : Box::pixel,
          .box_weights = {},
          .offsets = offsets,
          .scales = scales,
          .output = output,
          .stats = nullptr};
}

// Each image's kind.
std::vector<std::size_t> kinds_of_images(int batch, std::span<const ImageCodes> kinds) {
  std::vector<std::size_t> of(static_cast<std::size_t>(batch), kinds.size());
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const int image : kinds[kind].images) {
      assert(of.at(static_cast<std::size_t>(image)) == kinds.size());
      of[static_cast<std::size_t>(image)] = kind;
    }
  }
  assert(std::ranges::count(of, kinds.size()) == 0);
  return of;
}

std::vector<std::vector<float>> scales_of_kinds(std::span<const ImageCodes> kinds,
                                                const ConvWeights& weights) {
  std::vector<std::vector<float>> scales;
  for (const ImageCodes& kind : kinds) {
    scales.push_back(forward_scales(kind.codes.params.scale, weights));
  }
  return scales;
}

}  // namespace

void conv_forward(const ConvShape& shape, Codes input, const ConvWeights& weights,
                  MutableReal output, ChannelStats& stats) {
  const CodeGrid grid = shape.input_grid();
  if (in_groups(shape)) {
    std::vector<int> all(static_cast<std::size_t>(shape.batch));
    std::iota(all.begin(), all.end(), 0);
    const ImageCodes kind{all, input};
    return conv_forward(shape, {&kind, 1}, weights, output, stats);
  }
  const std::vector<float> offsets = to_panels(weights.offsets(), shape.out_channels);
  const std::vector<float> scales = forward_scales(input.params.scale, weights);
  Gather gather = forward_gather(shape, input.params, weights, offsets, scales, output);
  gather.stats = &stats;
  GatherRun run(gather);
#pragma omp parallel for schedule(dynamic, 1)
  for (int image = 0; image < shape.batch; image += run.parcel()) {
    const int images = std::min(run.parcel(), shape.batch - image);
    run.run(image, images, at_hand(input, grid, image, images, thread_codes().input));
  }
  run.finish();
}

void conv_forward(const ConvShape& shape, std::span<const ImageCodes> kinds,
                  const ConvWeights& weights, MutableReal output, ChannelStats& stats) {
  if (kinds.size() == 1 && kinds.front().images.empty()) {
    return conv_forward(shape, kinds.front().codes, weights, output, stats);
  }
  const std::vector<std::size_t> kind_of = kinds_of_images(shape.batch, kinds);
  const std::vector<std::vector<float>> scales = scales_of_kinds(kinds, weights);
  if (in_groups(shape)) {
    return grouped_forward(shape, kinds, kind_of, weights, scales, output, stats);
  }
  const std::vector<float> offsets = to_panels(weights.offsets(), shape.out_channels);
  std::vector<Gather> gathers;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    gathers.push_back(
        forward_gather(shape, kinds[kind].codes.params, weights, offsets, scales[kind], output));
    gathers.back().parcels = Parcels::single;
  }
  KindGather gather(std::move(gathers));
  const CodeGrid grid = shape.input_grid();
#pragma omp parallel for schedule(dynamic, 1)
  for (int image = 0; image < shape.batch; ++image) {
    const std::size_t kind = kind_of[static_cast<std::size_t>(image)];
    gather.run(kind, image, at_hand(kinds[kind].codes, grid, image, 1, thread_codes().input));
  }
  gather.finish(stats);
}

}  // namespace bitcycle::integer
