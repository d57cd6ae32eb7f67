#pragma once

// What this machine could do at best: loops of nothing but the multiply and add instructions of a
// kernel, on registers, one thread. Kernels are judged by the fraction of it that they reach, which
// holds on machines of any speed.

#include "bitcycle/kernels/isa.h"

#include <cstdint>

namespace bitcycle::bench {

// The instruction mixes of the dot products, cheapest first.
enum class Mix {
  chained,  // AVX2: vpmaddubsw, vpaddw
  widened,  // AVX2: vpmaddubsw, vpmaddwd, vpaddd
  wide,     // AVX2: vpmaddwd, vpaddd
  vnni,     // AVX-512: vpdpbusd
};

// The mix with which `isa` multiplies codes when `chain` lanes may be added in 16 bits.
Mix mix_of(Isa isa, int chain);

// Runs `rounds` rounds of the mix and returns the multiply-accumulates done.
std::int64_t run_mix(Mix mix, std::int64_t rounds);

std::int64_t run_mix_avx2(Mix mix, std::int64_t rounds);
std::int64_t run_mix_avx512(std::int64_t rounds);

}  // namespace bitcycle::bench
