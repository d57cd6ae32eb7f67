#pragma once

// The driver that forward and backward-data convolutions share: for every output pixel, gather the
// codes under the taps and multiply them with the packed weights.

#include "kernels/integer/gather/gather_plan.h"
#include "kernels/integer/gather/stats.h"

namespace bitcycle::integer {

// Threads may run different images of one call at the same time.
class GatherRun {
 public:
  // `like` may be the run of a call that differs in its codes' parameters and scales alone.
  explicit GatherRun(const Gather& call, const GatherRun* like = nullptr);

  // Images that share a work item; runs start at multiples of it.
  int parcel() const { return plan_.parcel; }
  // `codes` are those of the first of the images.
  void run(int image, int images, const std::uint8_t* codes);
  // The results of one parcel, in memory of its own in place of the call's output; no statistics.
  void run_into(MutableReal output, int images, const std::uint8_t* codes) const;
  // The results of one parcel, added to others before they are rounded; no statistics. A panel
  // beyond the last of the others is read.
  void run_onto(const float* others, int image, const std::uint8_t* codes) const;
  // Once all images have been run.
  void finish();

 private:
  Gather call_;
  const Microkernels& table_;
  GatherPlan plan_;
  PartialStats stats_;
};

}  // namespace bitcycle::integer
