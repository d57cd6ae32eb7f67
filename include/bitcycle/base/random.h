#pragma once

// Randomness by counter. Every random number is a pure function of a key and an index, so a result
// does not depend on threads, SIMD width, or where a run was resumed. Keys are derived from the
// recipe's seed by naming what they are for:
//
//   RandomKey key = RandomKey(seed).derive("augment").derive(epoch).derive(sample);
//   double u = key.uniform(0);
//
// `Rounding noise` below is the same idea at 16 bits an element, cheap enough for a SIMD inner
// loop.

#include <cstdint>
#include <string_view>

namespace bitcycle {

// SplitMix64's finalizer (Steele, Lea and Flood 2014): a bijection of 64 bits that passes BigCrush
// when applied to a Weyl sequence, which is how RandomKey uses it.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class RandomKey {
 public:
  constexpr explicit RandomKey(std::uint64_t seed) : value_(mix64(seed + kWeyl)) {}

  // A key for a part of what this key is for. Different numbers or names give unrelated keys.
  constexpr RandomKey derive(std::uint64_t number) const {
    return RandomKey(value_ ^ mix64(number + kWeyl));
  }
  constexpr RandomKey derive(std::string_view name) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return derive(hash);
  }

  // 64 uniform bits for index i.
  constexpr std::uint64_t bits(std::uint64_t i) const { return mix64(value_ + (i + 1) * kWeyl); }
  // Uniform in [0, 1) with 53 random bits.
  constexpr double uniform(std::uint64_t i) const {
    return static_cast<double>(bits(i) >> 11) * 0x1p-53;
  }
  // Uniform integer in [0, n), n >= 1; the bias of the multiply-shift is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t i, std::uint64_t n) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits(i)) * n) >> 64);
  }
  // Standard normal (Box-Muller on indices 2i and 2i+1).
  double normal(std::uint64_t i) const;

  constexpr std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t kWeyl = 0x9e3779b97f4a7c15ULL;
  std::uint64_t value_;
};

// The key of stochastic rounding for one tensor at one step: two 32-bit words.
struct NoiseKey {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

constexpr NoiseKey noise_key(RandomKey key) {
  const std::uint64_t bits = key.bits(0);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

// Note [Rounding noise].
// One 32-bit hash serves two elements: element i takes the low (i even) or high (i odd) 16 bits of
// noise_word(key, i / 2). The hash is Wellons' lowbias32 with a second key word added between its
// two multiplications: without it, two keys would give the same words in permuted order. Only
// shifts, xors, adds and 32-bit multiplications, so every SIMD width computes the same words.
constexpr std::uint32_t noise_word(NoiseKey key, std::uint32_t pair) {
  std::uint32_t x = pair ^ key.first;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = ((x ^ (x >> 15)) + key.second) * 0x846ca68bU;
  return x ^ (x >> 16);
}

// The 16 random bits of element i.
constexpr std::uint32_t noise_bits(NoiseKey key, std::uint64_t i) {
  const std::uint32_t word = noise_word(key, static_cast<std::uint32_t>(i >> 1));
  return (i & 1) != 0 ? word >> 16 : word & 0xffffU;
}

// Noise of element i, uniform on the 65536 midpoints of (-0.5, 0.5): exact in float, mean exactly
// 0.
inline constexpr float kNoiseStep = 0x1p-16f;
inline constexpr float kNoiseCentre = 32767.5f;
constexpr float noise(NoiseKey key, std::uint64_t i) {
  return (static_cast<float>(noise_bits(key, i)) - kNoiseCentre) * kNoiseStep;
}

}  // namespace bitcycle
