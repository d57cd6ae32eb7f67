#include "kernels/integer/lanes_avx2.h"
#include "kernels/integer/pool_bodies.h"

namespace bitcycle::integer {

constinit const PassKernels kAvx2Passes = make_passes<Avx2Lanes>();

}  // namespace bitcycle::integer
