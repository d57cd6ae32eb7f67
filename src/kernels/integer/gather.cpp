#include "kernels/integer/gather.h"

#include "kernels/integer/aligned.h"
#include "kernels/integer/boxes.h"
#include "kernels/integer/gather_plan.h"
#include "kernels/integer/stats.h"

#include <algorithm>
#include <limits>

namespace bitcycle::integer {
namespace {

// Source bytes that one sweep over the panels covers, so that they stay in the second-level cache.
constexpr std::ptrdiff_t kBandBytes = 128 * 1024;

struct Scratch {
  AlignedBuffer<std::int32_t> pixel_sums;
  AlignedBuffer<float> weighted_sums;
  AlignedBuffer<std::int32_t> int_boxes;
  AlignedBuffer<std::int32_t> int_columns;
  AlignedBuffer<float> boxes;
  AlignedBuffer<float> columns;
};

Scratch& thread_scratch() {
  static thread_local Scratch scratch;
  return scratch;
}

// One work item: `images` images from `first` on.
class GroupWork {
 public:
  GroupWork(const Gather& call, const GatherPlan& plan, const Microkernels& table, Scratch& scratch,
            int group, float* stats)
      : call_(call),
        plan_(plan),
        table_(table),
        scratch_(scratch),
        images_(std::min(plan.group, call.grid.batch - group * plan.group)),
        source_(call.codes.data + std::ptrdiff_t{group} * plan.group * call.grid.image_bytes()),
        target_(std::ptrdiff_t{group} * plan.group * call.out_height * call.out_width *
                call.phases.front().out_channels),
        stats_(stats) {}

  void run() {
    if (call_.box == Box::channel) {
      for (const PhasePlan& phase : plan_.phases) run_depthwise(phase);
      return;
    }
    choose_dot();
    sum_pixels();
    for (const PhasePlan& phase : plan_.phases) run_phase(phase);
  }

 private:
  std::ptrdiff_t plane_pixels() const {
    return call_.grid.image_bytes() / call_.grid.channels * images_;
  }

  void choose_dot() {
    dot_ = table_.dot[chain_index(plan_.chain)];
    if (plan_.chain > 0) return;
    const std::ptrdiff_t bytes = images_ * call_.grid.image_bytes();
    // Pairs lie at even offsets only if pixels have an even number of codes.
    const bool paired = call_.grid.channels % 2 == 0;
    const bool whole_steps = call_.grid.channels % 4 == 0;  // padding bytes would count as 128
    if (paired && table_.pairs_fit(source_, bytes)) return;
    arithmetic_ = whole_steps && table_.signed_pairs_fit(source_, bytes, 0x80)
                      ? Arithmetic::signed_source
                      : Arithmetic::wide;
    dot_ = arithmetic_ == Arithmetic::wide ? table_.dot_wide : table_.dot_signed;
  }

  bool needs_int_boxes() const {
    return call_.box_weights.empty() || arithmetic_ == Arithmetic::signed_source;
  }

  void sum_pixels() {
    const auto pixels = static_cast<int>(plane_pixels());
    const auto size = static_cast<std::size_t>(pixels);
    if (needs_int_boxes()) {
      table_.pixel_sums(source_, pixels, call_.grid.channels, scratch_.pixel_sums.reserve(size));
    }
    if (!call_.box_weights.empty()) {
      table_.weighted_pixel_sums(source_, pixels, call_.grid.channels,
                                 call_.codes.params.zero_point, call_.box_weights.data(),
                                 scratch_.weighted_sums.reserve(size));
    }
  }

  // Fills boxes_ (float, zero point taken off) and pixel_int_ for the pixels of a phase.
  void fill_boxes(const PhasePlan& phase) {
    const auto count = static_cast<std::size_t>(images_) * phase.pixels() + kMaxPixels;
    const auto width = static_cast<std::size_t>(call_.grid.width + 2 * call_.grid.halo);
    std::int32_t* ints = scratch_.int_boxes.reserve(count);
    float* boxes = scratch_.boxes.reserve(count);
    const std::ptrdiff_t plane = plane_pixels() / images_;
    for (int n = 0; n < images_; ++n) {
      const std::ptrdiff_t first = std::ptrdiff_t{n} * phase.pixels();
      if (needs_int_boxes()) {
        box_sums(scratch_.pixel_sums.data() + n * plane, call_.grid, phase,
                 scratch_.int_columns.reserve(width), ints + first);
      }
      if (!call_.box_weights.empty()) {
        box_sums(scratch_.weighted_sums.data() + n * plane, call_.grid, phase,
                 scratch_.columns.reserve(width), boxes + first);
      }
    }
    correct_boxes(phase, ints, boxes);
  }

  void correct_boxes(const PhasePlan& phase, std::int32_t* ints, float* boxes) {
    const std::int32_t zero = call_.codes.params.zero_point * phase.taps->products();
    const int pixels = images_ * phase.pixels();
    if (call_.box_weights.empty()) {
      for (int i = 0; i < pixels; ++i) boxes[i] = static_cast<float>(ints[i] - zero);
    }
    if (arithmetic_ == Arithmetic::signed_source) {
      for (int i = 0; i < pixels; ++i) ints[i] = -128 * (ints[i] - zero);
    } else {
      std::fill_n(ints, pixels, 0);
    }
  }

  void run_phase(const PhasePlan& phase) {
    fill_boxes(phase);
    const int pixels = images_ * phase.pixels();
    const int step = phase.taps->y.source_step;
    const std::ptrdiff_t band = kBandBytes / (std::ptrdiff_t{call_.grid.channels} * step * step);
    const int blocks = static_cast<int>(band / dot_.pixels) + 1;
    for (int first = 0; first < pixels; first += blocks * dot_.pixels) {
      const int last = std::min(pixels, first + blocks * dot_.pixels);
      for (int panel = 0; panel < panels_of(phase.taps->out_channels); ++panel) {
        run_panel(phase, panel, first, last);
      }
    }
  }

  // The pixels [first, last) of one panel.
  void run_panel(const PhasePlan& phase, int panel, int first, int last) {
    alignas(64) std::int32_t sums[kMaxPixels * kPanel] = {};
    const PackedTaps& taps = *phase.taps;
    DotJob dot{source_, nullptr, taps.panels.data() + panel * taps.panel_bytes(), phase.segments,
               sums};
    StoreJob store = store_job(phase, panel);
    store.sums = sums;
    for (int i = first; i < last; i += dot_.pixels) {
      dot.offsets = phase.sources.data() + i;
      if (!phase.segments.empty()) dot_.run(dot);
      store.pixels = std::min(dot_.pixels, last - i);
      store.offsets = phase.targets.data() + i;
      store.boxes = scratch_.boxes.data() + i;
      store.pixel_int = scratch_.int_boxes.data() + i;
      store_kernel()(store);
    }
  }

  void run_depthwise(const PhasePlan& phase) {
    for (int i = 0; i < images_ * phase.pixels(); i += kMaxPixels) {
      for (int panel = 0; panel < panels_of(phase.taps->out_channels); ++panel) {
        run_depthwise_block(phase, panel, i, std::min(kMaxPixels, images_ * phase.pixels() - i));
      }
    }
  }

  void run_depthwise_block(const PhasePlan& phase, int panel, int first, int pixels) {
    alignas(64) std::int32_t sums[kMaxPixels * kPanel];
    alignas(64) float boxes[kMaxPixels * kPanel];
    static constexpr std::int32_t kNoPixelInt[kMaxPixels] = {};
    const PackedTaps& taps = *phase.taps;
    const std::ptrdiff_t pairs = std::ptrdiff_t{(taps.taps() + 1) / 2} * kPanel * 2;
    const std::int64_t largest =
        (std::int64_t{call_.codes.params.levels()} << (call_.weight_bits - 1)) * taps.taps();
    const bool narrow = largest <= std::numeric_limits<std::int16_t>::max();
    table_.depthwise(
        {.source = source_ + panel * kPanel,
         .offsets = phase.sources.data() + first,
         .pixels = pixels,
         .taps = phase.tap_bytes,
         .singles = narrow ? taps.singles.data() + panel * taps.taps() * kPanel : nullptr,
         .pairs = taps.pairs.data() + panel * pairs,
         .box_zero = call_.codes.params.zero_point * taps.taps(),
         .sums = sums,
         .boxes = boxes});
    StoreJob store = store_job(phase, panel);
    store.sums = sums;
    store.pixels = pixels;
    store.offsets = phase.targets.data() + first;
    store.boxes = boxes;
    store.pixel_int = kNoPixelInt;
    store_kernel()(store);
  }

  StoreKernel store_kernel() const {
    const Sink sink = stats_ != nullptr ? Sink::counted : Sink::biased;
    const auto at = [](auto value) { return static_cast<std::size_t>(value); };
    return table_.store[at(call_.output.type)][at(call_.box)][at(sink)];
  }

  // What all blocks of a panel share.
  StoreJob store_job(const PhasePlan& phase, int panel) const {
    const int channel = panel * kPanel;
    const auto& channel_int =
        arithmetic_ == Arithmetic::signed_source ? phase.signed_channel_int : phase.channel_int;
    const std::ptrdiff_t size = call_.output.type == Real::f16 ? 2 : 4;
    StoreJob job{};
    job.channels = std::min(kPanel, phase.taps->out_channels - channel);
    job.channel_int = channel_int.data() + channel;
    job.channel_offset = call_.offsets.data() + channel;
    job.channel_scale = call_.scales.data() + channel;
    job.bias = call_.bias.data() + channel;
    job.output = static_cast<char*>(call_.output.data) + (target_ + channel) * size;
    job.stats = stats_ != nullptr ? stats_ + panel * kStatsFloats : nullptr;
    return job;
  }

  const Gather& call_;
  const GatherPlan& plan_;
  const Microkernels& table_;
  Scratch& scratch_;
  int images_;
  const std::uint8_t* source_;
  std::ptrdiff_t target_;
  float* stats_;
  DotKernel dot_;
  Arithmetic arithmetic_ = Arithmetic::chained;
};

}  // namespace

void gather(const Gather& call) {
  const Microkernels& table = microkernels();
  const GatherPlan plan = plan_gather(call, table.saturates);
  const int panels = panels_of(call.phases.front().out_channels);
  PartialStats stats(call.stats != nullptr ? plan.groups : 0, panels);
#pragma omp parallel for schedule(dynamic, 1)
  for (int group = 0; group < plan.groups; ++group) {
    GroupWork(call, plan, table, thread_scratch(), group, stats.group(group)).run();
  }
  if (call.stats != nullptr) stats.reduce(call.phases.front().out_channels, *call.stats);
}

}  // namespace bitcycle::integer
