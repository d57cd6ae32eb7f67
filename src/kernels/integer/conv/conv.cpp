// The forward convolution in terms of the shared driver: which codes are gathered, and what the
// integer sums are worth. Note [Integer scheme] in docs/numerics.md has the equations.

#include "bitcycle/kernels/integer/conv.h"

#include "kernels/integer/codes/codes_at_hand.h"
#include "kernels/integer/conv/conv_grouped.h"
#include "kernels/integer/gather/gather.h"

#include <algorithm>

namespace bitcycle::integer {
namespace {

std::vector<float> forward_scales(float activation_scale, const ConvWeights& weights) {
  std::vector<float> scales(weights.scales().begin(), weights.scales().end());
  for (float& scale : scales) scale *= activation_scale;
  return scales;
}

}  // namespace

void conv_forward(const ConvShape& shape, Codes input, const ConvWeights& weights,
                  MutableReal output, ChannelStats& stats) {
  const int channels = shape.out_channels;
  const CodeGrid grid = shape.input_grid();
  const std::vector<float> offsets = to_panels(weights.offsets(), channels);
  const std::vector<float> scales =
      to_panels(forward_scales(input.params.scale, weights), channels);
  if (in_groups(shape)) {
    const InMemory codes(input, grid);
    grouped_forward(shape, codes.codes(), weights, scales, output, stats);
    return;
  }
  const ConvWeights::State& state = weights.state();
  GatherRun run({.grid = grid,
                 .params = input.params,
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
                 .stats = &stats});
#pragma omp parallel for schedule(dynamic, 1)
  for (int image = 0; image < shape.batch; image += run.parcel()) {
    const int images = std::min(run.parcel(), shape.batch - image);
    run.run(image, images, at_hand(input, grid, image, images, thread_codes().input));
  }
  run.finish();
}

}  // namespace bitcycle::integer
