#include "kernels/integer/gather_plan.h"

#include "kernels/integer/winograd.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {
namespace {

// Small images (the last stages, fully connected layers) share a work item, so that the blocks of
// the dot products are filled: as many as share a partial sum of the statistics.
int images_per_group(const Gather& call) {
  const ConvShape out{.batch = call.grid.batch, .height = call.out_height, .width = call.out_width};
  return out.images_a_sum();
}

void map_pixels(const Gather& call, int group, int first_y, int first_x, PhasePlan& plan) {
  const PackedTaps& taps = *plan.taps;
  const auto image_elements = std::ptrdiff_t{call.out_height} * call.out_width * taps.out_channels;
  for (int n = 0; n < group; ++n) {
    for (int i = 0; i < plan.rows; ++i) {
      for (int j = 0; j < plan.columns; ++j) {
        const int y = i * taps.y.source_step + taps.y.origin;
        const int x = j * taps.x.source_step + taps.x.origin;
        plan.sources.push_back(static_cast<std::int32_t>(
            n * call.grid.image_bytes() + y * call.grid.row_bytes() + x * call.grid.channels));
        const int out_y = first_y + i * call.step;
        const int out_x = first_x + j * call.step;
        plan.targets.push_back(static_cast<std::int32_t>(
            n * image_elements +
            (std::ptrdiff_t{out_y} * call.out_width + out_x) * taps.out_channels));
      }
    }
  }
  // The last block of dot products is filled up with repetitions of the last pixel.
  if (!plan.sources.empty())
    plan.sources.insert(plan.sources.end(), kMaxPixels, plan.sources.back());
}

// Cuts the rows of taps where `chain` steps have been added up.
std::vector<Segment> cut_segments(const PackedTaps& taps, std::ptrdiff_t row_bytes, int chain) {
  std::vector<Segment> segments;
  int room = chain;
  for (int r = 0; r < taps.y.count; ++r) {
    for (int done = 0; done < taps.row_steps();) {
      const int steps = std::min(taps.row_steps() - done, room);
      room -= steps;
      segments.push_back({static_cast<std::int32_t>(r * row_bytes + done * 4), steps, room == 0});
      done += steps;
      if (room == 0) room = chain;
    }
  }
  if (!segments.empty()) segments.back().flush = true;
  return segments;
}

std::vector<std::int32_t> tap_offsets(const PackedTaps& taps, const CodeGrid& grid) {
  std::vector<std::int32_t> offsets;
  for (int t = 0; t < taps.taps(); ++t) {
    offsets.push_back(static_cast<std::int32_t>((t / taps.x.count) * grid.row_bytes() +
                                                (t % taps.x.count) * grid.channels));
  }
  return offsets;
}

// What the codes have lost when they are multiplied.
int taken_off(const CodeParams& params, Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::signed_levels:
      return params.zero_point;
    case Arithmetic::winograd:
      return middle_code(params);
    default:
      return 0;
  }
}

PhasePlan plan_phase(const Gather& call, int phase, int group, int chain, Arithmetic arithmetic) {
  PhasePlan plan;
  plan.taps = &call.phases[static_cast<std::size_t>(phase)];
  const int first_y = phase / call.step;
  const int first_x = phase % call.step;
  plan.rows = (call.out_height - first_y + call.step - 1) / call.step;
  plan.columns = (call.out_width - first_x + call.step - 1) / call.step;
  map_pixels(call, group, first_y, first_x, plan);
  if (call.box == Box::channel) {
    plan.tap_bytes = tap_offsets(*plan.taps, call.grid);
  } else {
    plan.segments = cut_segments(*plan.taps, call.grid.row_bytes(), chain);
  }
  if (arithmetic == Arithmetic::winograd) {
    plan.winograd_start = winograd_start(plan.taps->winograd, call.params);
  }
  // sum c (u - z) = sum c (u - taken off) - (z - taken off) sum c
  const int lacking = call.params.zero_point - taken_off(call.params, arithmetic);
  for (const std::int32_t sum : plan.taps->code_sums) plan.channel_int.push_back(-lacking * sum);
  return plan;
}

// Codes with a small zero point are small themselves: activations after ReLU.
Arithmetic choose_arithmetic(const Gather& call, int chain, const Microkernels& table) {
  const CodeParams& params = call.params;
  if (suits_winograd(call, table.winograd)) return Arithmetic::winograd;
  if (chain >= kLongChain || call.box == Box::channel) return Arithmetic::chained;
  return params.zero_point * 8 <= params.levels() ? Arithmetic::unsigned_levels
                                                  : Arithmetic::signed_levels;
}

}  // namespace

GatherPlan plan_gather(const Gather& call, const Microkernels& table) {
  GatherPlan plan;
  plan.group = images_per_group(call);
  plan.groups = (call.grid.batch + plan.group - 1) / plan.group;
  const int chain = table.saturates ? chain_length(call.params.bits, call.weight_bits)
                                    : std::numeric_limits<int>::max();
  plan.arithmetic = choose_arithmetic(call, chain, table);
  plan.chain = chain;
  const int cut = chain >= kCutChain ? chain : std::numeric_limits<int>::max();
  for (int phase = 0; phase < call.step * call.step; ++phase) {
    plan.phases.push_back(plan_phase(call, phase, plan.group, cut, plan.arithmetic));
  }
  return plan;
}

}  // namespace bitcycle::integer
