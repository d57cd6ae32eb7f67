#include "bitcycle/config/plateau.h"

#include <limits>

namespace bitcycle {

void PlateauState::observe(double loss, double drop) {
  if (loss < best.value_or(std::numeric_limits<double>::infinity())) {
    best = loss;
  } else {
    factor *= drop;
  }
}

}  // namespace bitcycle
