#pragma once

// What the logged choices of gates come to in bits, for sinks that log bits. Events do not know the
// options that shares are of; who makes a sink does (config/chosen_bits.h).

#include "bitcycle/cost/run_cost.h"

#include <functional>
#include <vector>

namespace bitcycle {

// Of shares by block and option.
using MeanOfChoices = std::function<MeanBits(const std::vector<std::vector<double>>&)>;

}  // namespace bitcycle
