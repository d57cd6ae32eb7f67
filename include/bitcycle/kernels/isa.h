#pragma once

// Which instruction set the kernels use. Every kernel exists once per set, in a source file of its
// own that is compiled for it, behind a table of functions chosen here at run time. All sets
// compute the same results; BITCYCLE_ISA=scalar|avx2|avx512 forces one, for tests and comparisons.

#include <string_view>
#include <vector>

namespace bitcycle {

enum class Isa {
  scalar,  // plain C++, runs everywhere
  avx2,    // AVX2, FMA, F16C
  avx512,  // AVX-512 F, BW, VL, DQ and VNNI
};

std::string_view name(Isa isa);

// The sets that this machine can run, slowest first; never empty.
std::vector<Isa> available_isas();

// The set in use: BITCYCLE_ISA, or else the best available. Throws Error(usage) when BITCYCLE_ISA
// names an unknown set or one that this machine lacks.
Isa active_isa();

}  // namespace bitcycle
