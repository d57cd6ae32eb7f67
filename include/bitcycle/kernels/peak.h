#pragma once

// What this machine could do at best: loops of nothing but the multiply and add instructions of a
// kernel, on registers. Kernels and training steps are judged by the fraction of it that they
// reach, which holds on machines of any speed.

#include "bitcycle/kernels/isa.h"
#include "bitcycle/network/layer_bits.h"

#include <array>
#include <cstdint>
#include <span>

namespace bitcycle {

enum class Mix {
  plain,        // plain C++ on codes, from the first cache
  chained,      // AVX2 on codes: vpmaddubsw, vpaddw
  widened,      // AVX2 on codes: vpmaddubsw, vpmaddwd, vpaddd
  wide,         // AVX2 on codes: vpmaddwd, vpaddd
  vnni,         // AVX-512 on codes: vpdpbusd
  plain_float,  // plain C++ on floats, from the first cache
  fma_avx2,     // vfmadd231ps on 8 floats
  fma_avx512,   // vfmadd231ps on 16 floats
};

// The mix with which `isa` multiplies codes, at best: see Note [Exact dot products].
Mix code_mix(Isa isa, int unsigned_bits, int signed_bits);
Mix float_mix(Isa isa);

// The mixes of a layer's three products: forward, error and weight gradient.
using PassMixes = std::array<Mix, 3>;
// With codes of 2 to 8 bits, errors of up to 16; those of the high plane of more than 8.
PassMixes code_mixes(Isa isa, LayerBits bits);
// In float, with the best set that this machine has: LibTorch does not know BITCYCLE_ISA.
PassMixes float_mixes();

// Runs `rounds` rounds, at least one, of the mix in this thread and returns the
// multiply-accumulates done. The machine must have the mix's instructions.
std::int64_t run_mix(Mix mix, std::int64_t rounds);

// The speed of work that is done in equal parts at these speeds.
double harmonic_mean(std::span<const double> speeds);

// The peak of a training step on all of OpenMP's threads, in billion multiply-accumulates a second.
// Its three passes have equally many products; of each, the best of many slices of some
// milliseconds counts. Products with errors in several planes are multiplied that many times.
double measure_peak_gmacs(const PassMixes& mixes, int error_planes = 1);

}  // namespace bitcycle
