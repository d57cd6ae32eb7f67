#include "kernels/integer/isa/scalar/lanes.h"
#include "kernels/integer/passes/pool_bodies.h"

namespace bitcycle::integer {

constinit const PassKernels kScalarPasses = make_passes<ScalarLanes>();

}  // namespace bitcycle::integer
