#pragma once

// The one door to LibTorch: every file of the torch layer includes it through here, and it is the
// layer's precompiled header. It brings the modules that the layer is made of, not <torch/nn.h>:
// the compiler instantiates what a header leaves pending once more in every file, which costs every
// file some seconds. ivalue.h must come first, or clang fails on LibTorch 1.13
// (incomplete c10::IValue under C++20).
//
// LibTorch 1.13 and 2.6 differ in two places that we use. Variants are c10::variant in the former
// and std::variant in the latter: get_if is called without a namespace, so that its argument finds
// it. Allocators have another interface (train/caching_allocator.cpp).

// clang-format off
#include <ATen/core/ivalue.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/csrc/autograd/custom_function.h>
// clang-format on
