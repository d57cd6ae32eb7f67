#pragma once

// One work item of a gather: a parcel of images, from codes to reals.

#include "kernels/integer/gather/depthwise_block.h"
#include "kernels/integer/gather/parcel.h"
#include "kernels/integer/gather/stats.h"
#include "kernels/integer/gather/winograd.h"

#include <algorithm>

namespace bitcycle::integer {

// Source bytes that one sweep over the panels covers, so that they stay in the second-level cache.
inline constexpr std::ptrdiff_t kBandBytes = 128 * 1024;

inline constexpr int kPanelSums = (kChunkPixels + kMaxPixels) * kPanel;  // of a chunk

static_assert(kDepthwisePixels <= kChunkPixels);

// See DotJob::tap_bytes.
inline int shared_tap_bytes(const PackedTaps& taps) {
  const bool shared = taps.x.count == 3 && taps.x.source_step == 1 && taps.in_channels % 4 == 0;
  return shared ? taps.in_channels : 0;
}

inline ParcelScratch& thread_scratch() {
  static thread_local ParcelScratch scratch;
  return scratch;
}

class ParcelWork {
 public:
  ParcelWork(const Gather& call, const GatherPlan& plan, const Microkernels& table, int index,
             const std::uint8_t* codes, float* stats)
      : call_(call),
        plan_(plan),
        table_(table),
        parcel_(call, plan, table, thread_scratch(), index, codes),
        images_(parcel_.images()),
        target_(std::ptrdiff_t{index} * plan.parcel * call.out_height * call.out_width *
                call.phases.front().out_channels),
        stats_(stats),
        block_(parcel_.has_levels() ? table.level_pixels : table.dot.pixels),
        panels_at_once_(parcel_.has_levels() ? 1 : table.dot.panels) {}

  void run() {
    if (call_.box == Box::channel) {
      run_depthwise();
      return;
    }
    parcel_.survey();
    for (const PhasePlan& phase : plan_.phases) run_phase(phase);
  }

 private:
  void run_phase(const PhasePlan& phase) {
    parcel_.fill(phase);
    if (plan_.arithmetic == Arithmetic::winograd) return run_winograd(phase);
    const int pixels = images_ * phase.pixels();
    const std::ptrdiff_t pixel_bytes =
        std::ptrdiff_t{phase.taps->x.source_step} * call_.grid.channels;
    const int chunk = parcel_.has_levels() ? kChunkPixels : kChunkPixels / block_ * block_;
    const int band = static_cast<int>(kBandBytes / pixel_bytes / chunk + 1) * chunk;
    for (int first = 0; first < pixels; first += band) {
      const int last = std::min(pixels, first + band);
      const int panels = panels_of(phase.taps->out_channels);
      for (int panel = 0; panel < panels; panel += panels_at_once_) {
        for (int i = first; i < last; i += chunk) {
          run_chunk(phase, {panel, std::min(panels_at_once_, panels - panel)},
                    {i, std::min(chunk, last - i)});
        }
      }
    }
  }

  // Offsets of a run of pixels and of enough others to fill up the last block. In a parcel with
  // fewer images than others those must not be pixels of the images that it lacks.
  const std::int32_t* sources(const PhasePlan& phase, int first, int pixels) {
    const std::int32_t* all = phase.map->sources.data() + first;
    if (images_ == plan_.parcel) return all;
    std::fill(std::copy_n(all, pixels, offsets_), std::end(offsets_), all[pixels - 1]);
    return offsets_;
  }

  struct Extent {
    int first;
    int count;
  };

  void run_chunk(const PhasePlan& phase, Extent panels, Extent pixels) {
    alignas(64) std::int32_t sums[kMaxPanels * kPanelSums];
    if (phase.segments.empty()) {
      std::fill_n(sums, panels.count * kPanelSums, 0);
    } else if (parcel_.has_levels()) {
      multiply_levels(phase, panels.first, pixels, sums);
    } else {
      multiply(phase, panels, pixels, sums);
    }
    for (int i = 0; i < panels.count; ++i) {
      store_chunk(phase, panels.first + i, pixels, sums + i * kPanelSums);
    }
  }

  void store_chunk(const PhasePlan& phase, int panel, Extent pixels, const std::int32_t* sums) {
    StoreJob store = store_job(phase, panel);
    store.sums = sums;
    store.pixels = pixels.count;
    store.offsets = phase.map->targets.data() + pixels.first;
    store.boxes = parcel_.boxes() + pixels.first;
    store_kernel()(store);
  }

  void run_winograd(const PhasePlan& phase) {
    TileBand band(call_, phase, table_.winograd, parcel_.codes(), thread_scratch().winograd);
    const int pixels = images_ * phase.pixels();
    for (int first = 0; first < pixels; first += band.pixels()) {
      const int count = std::min(band.pixels(), pixels - first);
      band.move_to(first, count);
      for (int panel = 0; panel < panels_of(phase.taps->out_channels); ++panel) {
        const std::int32_t* sums = band.multiply(panel);
        for (int i = 0; i < count; i += kChunkPixels) {
          store_chunk(phase, panel, {first + i, std::min(kChunkPixels, count - i)},
                      sums + i * kPanel);
        }
      }
    }
  }

  void multiply(const PhasePlan& phase, Extent panels, Extent pixels, std::int32_t* sums) {
    table_.dot.run({.source = parcel_.codes(),
                    .offsets = sources(phase, pixels.first, pixels.count),
                    .blocks = (pixels.count + block_ - 1) / block_,
                    .order = nullptr,
                    .panel = phase.taps->panels.data() + panels.first * phase.taps->panel_bytes(),
                    .segments = phase.segments,
                    .zero = 0,
                    .start = nullptr,
                    .sums = sums,
                    .panels = panels.count,
                    .panel_bytes = phase.taps->panel_bytes(),
                    .panel_sums = kPanelSums,
                    .tap_bytes = shared_tap_bytes(*phase.taps)});
  }

  void multiply_levels(const PhasePlan& phase, int panel, Extent pixels, std::int32_t* sums) {
    const std::int32_t* offsets = sources(phase, pixels.first, pixels.count);
    const PackedTaps& taps = *phase.taps;
    const bool is_signed = plan_.arithmetic == Arithmetic::signed_levels;
    const LevelDots& dots = is_signed ? table_.signed_dot : table_.unsigned_dot;
    const auto& panels = is_signed ? taps.raised : taps.panels;
    const LevelOrder& order = parcel_.order(pixels.first / kChunkPixels);
    for (int level = 0, done = 0; level < kLevels; ++level) {
      const int end = order.end[static_cast<std::size_t>(level)];
      if (end == done) continue;
      dots.run[level]({.source = parcel_.source(level),
                       .offsets = offsets,
                       .blocks = end - done,
                       .order = order.blocks.data() + done,
                       .panel = panels.data() + panel * taps.panel_bytes(),
                       .segments = phase.segments,
                       .zero = call_.params.zero_point,
                       .start = parcel_.start(pixels.first),
                       .sums = sums});
      done = end;
    }
  }

  void run_depthwise() {
    const auto step = static_cast<std::size_t>(call_.stride);
    for (std::size_t y = 0; y < step; ++y) {
      each_depthwise_block(std::span(plan_.phases).subspan(y * step, step), images_,
                           [this](const DepthwiseBlock& block) {
                             for (const PhasePlan& phase : block.phases) run_part(block, phase);
                           });
    }
  }

  // The pixels of a block that belong to one phase.
  void run_part(const DepthwiseBlock& block, const PhasePlan& phase) {
    if (block.columns_of(phase) == 0) return;
    alignas(64) std::int32_t sums[(kDepthwisePixels + kMaxPixels) * kPanel];
    alignas(64) float boxes[(kDepthwisePixels + kMaxPixels) * kPanel];
    DepthwiseJob job = depthwise_job(call_, phase);
    job.rows = block.rows;
    job.columns = block.columns_of(phase);
    job.source = parcel_.codes();
    job.offsets = sources(phase, block.first_pixel(phase), job.pixels());
    job.sums = sums;
    job.boxes = boxes;
    const int panels = panels_of(phase.taps->out_channels);
    for (int panel = 0; panel < panels; ++panel) {
      table_.depthwise(of_panel(job, panel));
      StoreJob store = store_job(phase, panel);
      store.sums = sums;
      store.pixels = job.pixels();
      store.offsets = phase.map->targets.data() + block.first_pixel(phase);
      store.boxes = boxes;
      store_kernel()(store);
    }
  }

  StoreKernel store_kernel() const {
    Sink sink = stats_ != nullptr ? Sink::counted : Sink::plain;
    if (call_.added != nullptr) sink = Sink::added;
    const auto at = [](auto value) { return static_cast<std::size_t>(value); };
    return table_.store[at(call_.output.type)][at(call_.box)][at(sink)];
  }

  // What all blocks of a panel share.
  StoreJob store_job(const PhasePlan& phase, int panel) const {
    const int channel = panel * kPanel;
    StoreJob job{};
    job.channels = std::min(kPanel, phase.taps->out_channels - channel);
    job.channel_int = phase.channel_int.data() + channel;
    job.channel_offset = call_.offsets.data() + channel;
    job.channel_scale = call_.scales.data() + channel;
    job.output =
        static_cast<char*>(call_.output.data) + (target_ + channel) * bytes_of(call_.output.type);
    job.stats = stats_ != nullptr ? stats_ + panel * kStatsFloats : nullptr;
    job.added = call_.added != nullptr ? call_.added + channel : nullptr;
    return job;
  }

  const Gather& call_;
  const GatherPlan& plan_;
  const Microkernels& table_;
  Parcel parcel_;
  int images_;
  std::ptrdiff_t target_;
  float* stats_;
  int block_;  // pixels of a block of dot products
  int panels_at_once_;
  std::int32_t offsets_[kChunkPixels + kMaxPixels];
};

}  // namespace bitcycle::integer
