#pragma once

// 16 floats in plain C++: the meaning of every operation that the vector versions must share.

#include "bitcycle/base/random.h"
#include "bitcycle/kernels/integer/tensor.h"

#include "kernels/integer/isa/nest_bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bitcycle::integer {
namespace {

class ScalarLanes {
 public:
  static constexpr int kSumsAtOnce = 4;  // that stay in registers together

  static ScalarLanes all(float value) {
    return make([value](int) { return value; });
  }
  // Lanes from `count` on are 0.
  static ScalarLanes load(const float* p, int count) {
    return make([=](int i) { return i < count ? p[i] : 0.0f; });
  }
  static ScalarLanes load(const Half* p, int count) {
    return make([=](int i) { return i < count ? to_float(p[i]) : 0.0f; });
  }
  // The noise bits of 16 elements, then of those `step` pairs of elements further on.
  class Noise {
   public:
    Noise(NoiseKey key, std::uint32_t first_pair, std::uint32_t step)
        : key_(key), element_(std::uint64_t{first_pair} * 2), step_(std::uint64_t{step} * 2) {}
    ScalarLanes next() {
      const std::uint64_t first = std::exchange(element_, element_ + step_);
      return make([&](int i) {
        return static_cast<float>(noise_bits(key_, first + static_cast<unsigned>(i)));
      });
    }

   private:
    NoiseKey key_;
    std::uint64_t element_, step_;
  };
  void store(float* p, int count) const { std::copy_n(v_, count, p); }
  void store(Half* p, int count) const { std::transform(v_, v_ + count, p, to_half); }

  ScalarLanes operator+(const ScalarLanes& o) const {
    return make([&](int i) { return v_[i] + o.v_[i]; });
  }
  ScalarLanes operator-(const ScalarLanes& o) const {
    return make([&](int i) { return v_[i] - o.v_[i]; });
  }
  ScalarLanes operator*(const ScalarLanes& o) const {
    return make([&](int i) { return v_[i] * o.v_[i]; });
  }
  // Rounded once.
  ScalarLanes times_plus(const ScalarLanes& factor, const ScalarLanes& term) const {
    return make([&](int i) { return std::fma(v_[i], factor.v_[i], term.v_[i]); });
  }
  // The other operand wins against a NaN here, as in the x86 instructions.
  ScalarLanes min(const ScalarLanes& o) const {
    return make([&](int i) { return v_[i] < o.v_[i] ? v_[i] : o.v_[i]; });
  }
  ScalarLanes max(const ScalarLanes& o) const {
    return make([&](int i) { return v_[i] > o.v_[i] ? v_[i] : o.v_[i]; });
  }
  ScalarLanes where_positive(const ScalarLanes& gate) const {
    return make([&](int i) { return gate.v_[i] > 0.0f ? v_[i] : 0.0f; });
  }
  ScalarLanes where_equal(const ScalarLanes& a, float b) const {
    return make([&](int i) { return a.v_[i] == b ? v_[i] : 0.0f; });
  }
  ScalarLanes where_bits(std::uint16_t bits) const {
    return make([&](int i) { return (bits >> i & 1) != 0 ? v_[i] : 0.0f; });
  }
  // Lanes of `larger` where it exceeds this one's `against`, else this.
  ScalarLanes replaced_where_greater(const ScalarLanes& by, const ScalarLanes& candidate,
                                     const ScalarLanes& best) const {
    return make([&](int i) { return candidate.v_[i] > best.v_[i] ? by.v_[i] : v_[i]; });
  }
  ScalarLanes or_where_missing(float value, int count) const {
    return make([&](int i) { return i < count ? v_[i] : value; });
  }
  std::uint16_t positive_bits() const {
    unsigned bits = 0;
    for (int i = 0; i < 16; ++i) bits |= (v_[i] > 0.0f ? 1U : 0U) << i;
    return static_cast<std::uint16_t>(bits);
  }
  float smallest() const { return *std::min_element(v_, v_ + 16); }
  float largest() const { return *std::max_element(v_, v_ + 16); }

  // Small whole numbers as bytes.
  static ScalarLanes load_bytes(const std::uint8_t* p, int count) {
    return make([=](int i) { return i < count ? static_cast<float>(p[i]) : 0.0f; });
  }
  void store_bytes(std::uint8_t* p, int count) const {
    std::transform(v_, v_ + count, p, [](float v) { return static_cast<std::uint8_t>(v); });
  }

  // Codes from 0 on to a narrower width.
  static void nest(std::uint8_t* codes, std::ptrdiff_t count, int largest) {
    integer::nest_bytes(codes, count, largest);
  }

  // Rounds to nearest even and clamps to [0, levels]; the zero point is already in the values.
  class Quantizer {
   public:
    explicit Quantizer(const CodeParams& params)
        : high_(static_cast<float>(params.largest_code())) {}
    void store(const ScalarLanes& scaled, std::uint8_t* codes, int count) const {
      const ScalarLanes clamped = scaled.min(all(high_)).max(all(0.0f));
      make([&](int i) { return std::nearbyint(clamped.v_[i]); }).store_bytes(codes, count);
    }

   private:
    float high_;
  };

 private:
  template <typename F>
  static ScalarLanes make(F f) {
    ScalarLanes out;
    for (int i = 0; i < 16; ++i) out.v_[i] = f(i);
    return out;
  }
  float v_[16];
};

}  // namespace
}  // namespace bitcycle::integer
