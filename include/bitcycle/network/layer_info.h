#pragma once

// What precision plans, cost counting and backends need to know of a layer, whatever kind of model
// it is part of. Every model has a function that lists its layers; tests hold list and module
// equal.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bitcycle {

enum class LayerKind {
  convolution,
  linear,
  product,  // of two activations
};
// How a model wants a layer trained: at the scheduled bits, or always in float.
enum class LayerPrecision { scheduled, full };
// Whether the error of a layer's input is computed: a layer that reads the data needs none.
enum class InputError { computed, not_needed };

// A layer as a convolution; a fully connected one is the default, with its channels. Pairs are
// {height, width}.
struct LayerGeometry {
  std::array<std::int64_t, 2> kernel = {1, 1};
  std::array<std::int64_t, 2> stride = {1, 1};
  std::array<std::int64_t, 2> padding = {0, 0};
  std::array<std::int64_t, 2> dilation = {1, 1};
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  std::int64_t width = 1;  // of the input
  bool operator==(const LayerGeometry&) const = default;
};

struct LayerInfo {
  std::string name;  // dotted module path
  LayerKind kind = LayerKind::linear;
  LayerGeometry geometry;
  std::int64_t macs = 0;      // multiply-accumulates per unit of work: a sample, a token
  std::int64_t norm_ops = 0;  // those of its batch norm, by thop's rule
  InputError input_error = InputError::computed;
  LayerPrecision precision = LayerPrecision::scheduled;
  int block = -1;                 // whose gate chooses its bits (network/gates.h); -1: no gate does
  std::vector<std::string> tags;  // the pattern "@depthwise" fits layers with the tag "depthwise"
};

}  // namespace bitcycle
