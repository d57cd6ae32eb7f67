#pragma once

// Starting a network from weights that are there already: those of another run, or of a safetensors
// file, such as one of PyTorch's networks of the same names. docs/weights.md shows both ways.

#include "bitcycle/quant/named_tensors.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

struct WeightsFile {
  std::filesystem::path path;  // of the safetensors file itself
  std::filesystem::path run;   // that it is of; empty: of none
  std::vector<std::byte> bytes;
  std::string data;  // fingerprint of what it was trained on; empty: not known
};
// What `path` stands for: a run directory (its best checkpoint, or its last if none is), a
// checkpoint, or a file. Throws Error(checkpoint) when there is nothing, or it is damaged.
WeightsFile find_weights(const std::filesystem::path& path);

// What a network took of a file, by name.
struct TakenWeights {
  using Shape = std::vector<std::int64_t>;
  // A tensor of the network that starts as if there were no file.
  struct Afresh {
    std::string name;
    Shape shape;
    std::optional<Shape> found;  // of the file's tensor of that name, if it has one
  };

  std::string file;
  std::string fingerprint;  // of its content
  std::vector<std::string> taken;
  std::vector<Afresh> afresh;
  std::vector<std::string> unused;  // tensors of the file that the network does not have
};

// Writes the file's values into the tensors of the same name and shape, converted to their type.
// Tensors of `last_layer` may have other shapes, since the classes may be others, and start afresh.
// Throws Error(checkpoint) when another shape differs, a value is not finite, or nothing fits; the
// tensors are as they were then.
TakenWeights take_weights(const WeightsFile& file, const NamedTensors& tensors,
                          const std::string& last_layer);

// For people, a line each.
std::vector<std::string> to_lines(const TakenWeights& weights);
std::string to_json(const TakenWeights& weights);

}  // namespace bitcycle
