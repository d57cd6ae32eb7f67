#include "kernels/integer/isa/avx2/lanes.h"
#include "kernels/integer/passes/pool_bodies.h"

namespace bitcycle::integer {

constinit const PassKernels kAvx2Passes = make_passes<Avx2Lanes>();

}  // namespace bitcycle::integer
