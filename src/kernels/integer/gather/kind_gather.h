#pragma once

// A gather over a batch whose images are of several kinds: the calls differ in the parameters of
// their codes and in their scales alone, and share where pixels lie and the statistics.

#include "kernels/integer/gather/gather_plan.h"
#include "kernels/integer/gather/stats.h"

#include <vector>

namespace bitcycle::integer {

// Threads may run different images at the same time.
class KindGather {
 public:
  // One call per kind, with parcels of one image.
  explicit KindGather(std::vector<Gather> kinds);

  void run(std::size_t kind, int image, const std::uint8_t* codes);
  // Once all images have been run: one partial sum per image, added up in their order.
  void finish(ChannelStats& stats) const;

 private:
  std::vector<Gather> calls_;
  const Microkernels& table_;
  std::vector<GatherPlan> plans_;
  PartialStats stats_;
};

}  // namespace bitcycle::integer
