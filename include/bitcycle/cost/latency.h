#pragma once

// A model of the training times that CPT reports for an accelerator on a Xilinx ZC706 board. It is
// a fit to the twelve published figures and nothing about the accelerator is known, so whatever is
// printed from it says "modelled". Unlike bit operations it is linear in the widths: a pass takes
// time in proportion to the mean width of its two operands.

#include "bitcycle/cost/run_cost.h"

#include <cstdint>

namespace bitcycle {

// Hours to train on `samples` samples (steps times batch) of a network with `macs` convolution and
// linear multiply-accumulates a sample, at these mean widths.
double modelled_hours_zc706(std::int64_t macs, double samples, const MeanBits& bits);

}  // namespace bitcycle
