#include "kernels/integer/gather/gather_plan.h"

#include "kernels/integer/gather/winograd.h"

#include <algorithm>
#include <cassert>

namespace bitcycle::integer {
namespace {

// Small images (the last stages, fully connected layers) share a work item, so that the blocks of
// the dot products are filled: as many as share a partial sum of the statistics.
int images_per_parcel(const Gather& call) {
  if (call.parcels == Parcels::single) return 1;
  const ConvShape out{.batch = call.grid.batch, .height = call.out_height, .width = call.out_width};
  return out.images_a_sum();
}

std::shared_ptr<const PixelMap> map_pixels(const Gather& call, int parcel, int first_y, int first_x,
                                           const PhasePlan& plan) {
  auto map = std::make_shared<PixelMap>();
  const PackedTaps& taps = *plan.taps;
  const auto image_elements = std::ptrdiff_t{call.out_height} * call.out_width * taps.out_channels;
  for (int n = 0; n < parcel; ++n) {
    for (int i = 0; i < plan.rows; ++i) {
      for (int j = 0; j < plan.columns; ++j) {
        const int y = i * taps.y.source_step + taps.y.origin;
        const int x = j * taps.x.source_step + taps.x.origin;
        map->sources.push_back(static_cast<std::int32_t>(
            n * call.grid.image_bytes() + y * call.grid.row_bytes() + x * call.grid.channels));
        const int out_y = first_y + i * call.stride;
        const int out_x = first_x + j * call.stride;
        map->targets.push_back(static_cast<std::int32_t>(
            n * image_elements +
            (std::ptrdiff_t{out_y} * call.out_width + out_x) * taps.out_channels));
      }
    }
  }
  // The last block of dot products is filled up with repetitions of the last pixel.
  if (!map->sources.empty())
    map->sources.insert(map->sources.end(), kMaxPixels, map->sources.back());
  return map;
}

// The steps of each chain that the weights of all panels allow, or none where some do not even
// allow one step.
using Chains = std::vector<int>;
Chains weight_chains(const PackedTaps& taps, int limit, const Microkernels& table) {
  if (!table.saturates) return {taps.steps()};
  Chains chains;
  for (int done = 0; done < taps.steps(); done += chains.back()) {
    int chain = taps.steps() - done;
    for (int panel = 0; panel < panels_of(taps.out_channels) && chain > 0; ++panel) {
      const std::int8_t* weights =
          taps.panels.data() + panel * taps.panel_bytes() + std::ptrdiff_t{done} * kStepBytes;
      chain = table.chain_steps(weights, chain, limit);
    }
    if (chain == 0) return {};
    chains.push_back(chain);
  }
  return chains;
}

// Cuts the rows of taps where a chain ends.
std::vector<Segment> cut_segments(const PackedTaps& taps, std::ptrdiff_t row_bytes,
                                  const Chains& chains) {
  std::vector<Segment> segments;
  auto chain = chains.begin();
  int room = chains.empty() ? 0 : *chain;
  for (int r = 0; r < taps.y.count; ++r) {
    for (int done = 0; done < taps.row_steps();) {
      const int steps = std::min(taps.row_steps() - done, room);
      room -= steps;
      segments.push_back({static_cast<std::int32_t>(r * row_bytes + done * 4), steps, room == 0});
      done += steps;
      if (room == 0 && ++chain != chains.end()) room = *chain;
    }
  }
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

PhasePlan plan_phase(const Gather& call, int phase, int parcel, const Chains& chains,
                     Arithmetic arithmetic, TileSums sums, const GatherPlan* like) {
  PhasePlan plan;
  plan.taps = &call.phases[static_cast<std::size_t>(phase)];
  const int first_y = phase / call.stride;
  const int first_x = phase % call.stride;
  plan.rows = (call.out_height - first_y + call.stride - 1) / call.stride;
  plan.columns = (call.out_width - first_x + call.stride - 1) / call.stride;
  plan.map = like != nullptr ? like->phases[static_cast<std::size_t>(phase)].map
                             : map_pixels(call, parcel, first_y, first_x, plan);
  if (call.box == Box::channel) {
    plan.tap_bytes = tap_offsets(*plan.taps, call.grid);
  } else {
    const bool chained = arithmetic == Arithmetic::chained;
    plan.segments = cut_segments(*plan.taps, call.grid.row_bytes(),
                                 chained ? chains : Chains{plan.taps->steps()});
  }
  if (arithmetic == Arithmetic::winograd && sums == TileSums::wide) {
    plan.winograd_wide_start = winograd_wide_start(*plan.taps, call.params);
  } else if (arithmetic == Arithmetic::winograd) {
    plan.winograd_groups = winograd_groups(plan.taps->winograd, call.params);
    plan.winograd_start = winograd_start(*plan.taps, plan.winograd_groups, call.params);
  }
  // sum c (u - z) = sum c (u - taken off) - (z - taken off) sum c
  const int lacking = call.params.zero_point - taken_off(call.params, arithmetic);
  for (const std::int32_t sum : plan.taps->code_sums) plan.channel_int.push_back(-lacking * sum);
  return plan;
}

// Whether chains are cut at most once every kLongChain steps, on average.
bool are_long(const Gather& call, std::span<const Chains> phases) {
  int steps = 0, cuts = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (phases[i].empty() && call.phases[i].steps() > 0) return false;
    steps += call.phases[i].steps();
    cuts += std::max(0, static_cast<int>(phases[i].size()) - 1);
  }
  return steps >= kLongChain * cuts;
}

// Codes with a small zero point are small themselves: activations after ReLU.
Arithmetic choose_arithmetic(const Gather& call, std::span<const Chains> chains) {
  const CodeParams& params = call.params;
  if (are_long(call, chains)) return Arithmetic::chained;
  assert(has_levels(call.weight_bits));
  return params.zero_point * 8 <= params.largest_code() ? Arithmetic::unsigned_levels
                                                        : Arithmetic::signed_levels;
}

}  // namespace

GatherPlan plan_gather(const Gather& call, const Microkernels& table, const GatherPlan* like) {
  GatherPlan plan;
  plan.parcel = images_per_parcel(call);
  plan.parcels = (call.grid.batch + plan.parcel - 1) / plan.parcel;
  std::vector<Chains> chains(call.phases.size());
  if (suits_winograd(call, table.winograd)) {
    plan.arithmetic = Arithmetic::winograd;
  } else if (call.box == Box::pixel) {
    std::ranges::transform(call.phases, chains.begin(), [&](const PackedTaps& taps) {
      return weight_chains(taps, signed_limit(call.params.bits), table);
    });
    plan.arithmetic = choose_arithmetic(call, chains);
  }
  for (int phase = 0; phase < call.stride * call.stride; ++phase) {
    plan.phases.push_back(plan_phase(call, phase, plan.parcel,
                                     chains[static_cast<std::size_t>(phase)], plan.arithmetic,
                                     table.winograd.sums, like));
  }
  return plan;
}

}  // namespace bitcycle::integer
