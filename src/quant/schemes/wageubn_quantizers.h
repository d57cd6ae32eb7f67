#pragma once

// The quantizers of WAGEUBN (Yang et al. 2020): steps and ranges are powers of two. With k bits the
// step is d(k) = 2^(1-k); R(x) is the power of two nearest to the largest magnitude of a tensor.

#include "bitcycle/base/random.h"
#include "bitcycle/quant/torch.h"

namespace bitcycle::wageubn {

// Q(x, k): to the nearest multiple of d(k), ties to even. Large values take more bits.
double direct(double x, int bits);
at::Tensor direct(const at::Tensor& x, int bits);

// Clipped to +-(1 - d(k)): the scheme's weights, its learning rate.
double clipped(double x, int bits);
at::Tensor clipped(const at::Tensor& x, int bits);

// R(x); 0 for a tensor of zeros, NaN for one that is not finite.
double power_near_largest(const at::Tensor& x);

// SQ(x, k) = R clip(Q(x / R, k), -bound, bound); the bound is 1 in the released code, and in the
// paper 1 - d(k).
enum class ShiftBound { one, one_step_less };
at::Tensor shift(const at::Tensor& x, int bits, ShiftBound bound);

// With s = R / 2^(k-1): magnitudes from s on to multiples of s, smaller ones to multiples of s
// d(k).
at::Tensor flag(const at::Tensor& x, int bits);

// Integers within +-(levels - 1): levels x / R, rounded stochastically. Of the magnitude of x its
// proportions alone are left.
at::Tensor stochastic_levels(const at::Tensor& x, double levels, NoiseKey noise);

}  // namespace bitcycle::wageubn
