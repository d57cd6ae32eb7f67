#pragma once

// A dataset that fits in memory: all pixels in one block. What the readers of IDX and CIFAR files
// fill.

#include "bitcycle/base/fingerprint.h"
#include "bitcycle/data/dataset.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bitcycle {

struct PackedImages {
  ImageShape shape;
  int classes = 0;
  std::vector<std::uint8_t> pixels;  // count x height x width x channels
  std::vector<std::uint8_t> labels;  // count, each below classes
};

class MemoryDataset final : public Dataset {
 public:
  explicit MemoryDataset(PackedImages images) : images_(std::move(images)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(images_.labels.size()); }
  int classes() const override { return images_.classes; }
  int label(std::int64_t index) const override {
    return images_.labels[static_cast<std::size_t>(index)];
  }
  Image image(std::int64_t index) const override {
    const auto first = images_.pixels.begin() + index * images_.shape.elements();
    return {images_.shape, {first, first + images_.shape.elements()}};
  }
  // Every byte: at a gigabyte a second that is cheaper than reading the files was.
  std::string fingerprint() const override {
    Fingerprint print;
    print.add(images_.classes);
    print.add(std::as_bytes(std::span(images_.labels)));
    print.add(std::as_bytes(std::span(images_.pixels)));
    return print.text();
  }

 private:
  PackedImages images_;
};

}  // namespace bitcycle
