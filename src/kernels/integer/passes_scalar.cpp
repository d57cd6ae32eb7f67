#include "kernels/integer/lanes_scalar.h"
#include "kernels/integer/pool_bodies.h"

namespace bitcycle::integer {

constinit const PassKernels kScalarPasses = make_passes<ScalarLanes>();

}  // namespace bitcycle::integer
