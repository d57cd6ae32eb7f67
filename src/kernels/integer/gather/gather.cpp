#include "kernels/integer/gather/gather.h"

#include "kernels/integer/gather/parcel_work.h"

#include <cassert>

namespace bitcycle::integer {

GatherRun::GatherRun(const Gather& call, const GatherRun* like)
    : call_(call),
      table_(microkernels()),
      plan_(plan_gather(call, table_, like != nullptr ? &like->plan_ : nullptr)),
      stats_(call.stats != nullptr ? plan_.parcels : 0,
             panels_of(call.phases.front().out_channels)) {}

void GatherRun::run(int image, int images, const std::uint8_t* codes) {
  assert(image % plan_.parcel == 0);
  for (int n = 0; n < images; n += plan_.parcel) {
    const int parcel = (image + n) / plan_.parcel;
    ParcelWork(call_, plan_, table_, parcel, codes + n * call_.grid.image_bytes(),
               stats_.parcel(parcel))
        .run();
  }
}

void GatherRun::run_into(MutableReal output, int images, const std::uint8_t* codes) const {
  assert(images <= plan_.parcel);
  Gather call = call_;
  call.grid.batch = images;
  call.output = output;
  ParcelWork(call, plan_, table_, 0, codes, nullptr).run();
}

void GatherRun::run_onto(const float* others, int image, const std::uint8_t* codes) const {
  assert(image % plan_.parcel == 0);
  Gather call = call_;
  call.added = others;
  ParcelWork(call, plan_, table_, image / plan_.parcel, codes, nullptr).run();
}

void GatherRun::finish() {
  if (call_.stats != nullptr) stats_.reduce(call_.phases.front().out_channels, *call_.stats);
}

}  // namespace bitcycle::integer
