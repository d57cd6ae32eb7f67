#include "kernels/integer/isa/avx512/lanes.h"
#include "kernels/integer/passes/pool_bodies.h"

namespace bitcycle::integer {

#if defined(BITCYCLE_SIMDE)
constinit const PassKernels kEmulatedAvx512Passes = make_passes<Avx512Lanes>();
#else
constinit const PassKernels kAvx512Passes = make_passes<Avx512Lanes>();
#endif

}  // namespace bitcycle::integer
