#pragma once

// What errors of more than 8 bits need of the passes (Note [Wide errors] in
// bitcycle/kernels/integer/code_planes.h): their two planes of codes.

#include "bitcycle/kernels/integer/code_planes.h"

#include "kernels/integer/passes/pass_bodies.h"

namespace bitcycle::integer {
namespace {

// Codes of up to 16 bits and their planes are small whole numbers, which floats hold exactly.
template <typename Lanes>
class WideQuantizer {
 public:
  explicit WideQuantizer(const CodeParams& params)
      : largest_(static_cast<float>(params.largest_code())),
        worth_(static_cast<float>(high_plane(params).worth)) {}

  // Rounds to nearest even and clamps, as Lanes::Quantizer does.
  void store(const Lanes& scaled, std::uint8_t* high, std::uint8_t* low, int count) const {
    const Lanes code = rounded(scaled.min(Lanes::all(largest_)).max(Lanes::all(0.0f)));
    // floor(code / worth): the multiples of 1 / worth less than the middle round down to it.
    const Lanes upper =
        rounded(code.times_plus(Lanes::all(1 / worth_), Lanes::all(0.5f / worth_ - 0.5f)));
    upper.store_bytes(high, count);
    upper.times_plus(Lanes::all(-worth_), code).store_bytes(low, count);
  }

 private:
  // From 2^23 on floats have no places behind the point; 2^22 more keep negative values there.
  static Lanes rounded(const Lanes& v) {
    const Lanes whole = Lanes::all(12582912.0f);
    return v + whole - whole;
  }
  float largest_;
  float worth_;
};

template <typename Lanes, typename T>
void quantize_wide_errors_body(const GradientJob& shared) {
  const GradientJob job = shared;
  const WideQuantizer<Lanes> quantizer(job.params);
  each_error<Lanes, T>(
      job, [&](const BandBlock& block, const Position& p, const Lanes& e)
               __attribute__((always_inline)) {
                 quantizer.store(e, job.codes + p.code, job.low_codes + p.code, block.count);
               });
}

}  // namespace
}  // namespace bitcycle::integer
