#pragma once

// The one door to LibTorch: every file of the torch layer includes it through here, and it is the
// layer's precompiled header. ivalue.h must come first, or clang fails on LibTorch 1.13 (incomplete
// c10::IValue under C++20).

// clang-format off
#include <ATen/core/ivalue.h>
#include <torch/nn.h>
#include <torch/csrc/autograd/custom_function.h>
// clang-format on
