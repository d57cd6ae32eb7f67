#include "kernels/integer/gather/kind_gather.h"

#include "kernels/integer/gather/parcel_work.h"

#include <utility>

namespace bitcycle::integer {
namespace {

std::vector<GatherPlan> plan_kinds(std::span<const Gather> calls, const Microkernels& table) {
  std::vector<GatherPlan> plans;
  plans.reserve(calls.size());
  for (const Gather& call : calls) {
    plans.push_back(plan_gather(call, table, plans.empty() ? nullptr : &plans.front()));
  }
  return plans;
}

}  // namespace

KindGather::KindGather(std::vector<Gather> kinds)
    : calls_(std::move(kinds)),
      table_(microkernels()),
      plans_(plan_kinds(calls_, table_)),
      stats_(calls_.front().grid.batch, panels_of(calls_.front().phases.front().out_channels)) {}

void KindGather::run(std::size_t kind, int image, const std::uint8_t* codes) {
  ParcelWork(calls_[kind], plans_[kind], table_, image, codes, stats_.parcel(image)).run();
}

void KindGather::finish(ChannelStats& stats) const {
  stats_.reduce(calls_.front().phases.front().out_channels, stats);
}

}  // namespace bitcycle::integer
