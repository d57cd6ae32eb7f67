#pragma once

// A dataset is random access to decoded images and labels. Readers decode one sample on request, so
// that worker threads can do it; they keep no mutable state and may be called from many threads.

#include "bitcycle/network/network.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bitcycle {

// A decoded picture: 8-bit, height x width x channels, interleaved (NHWC order).
struct Image {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  virtual int classes() const = 0;
  virtual int label(std::int64_t index) const = 0;
  // What the sample is called, whoever lists it: of a picture in a folder, its file.
  virtual std::string sample_name(std::int64_t index) const { return std::to_string(index); }
  // Decodes sample `index`. Throws Error(data) naming the file when it is damaged.
  virtual Image image(std::int64_t index) const = 0;

  // Changes when the samples do, so that a run notices when it is resumed on other data. Costs no
  // more than opening the dataset. This one covers size, classes, all labels, and the pixels of a
  // few hundred samples spread evenly.
  virtual std::string fingerprint() const;
};

// At most `count` of the indices 0 .. size-1, spread evenly, the first and the last among them.
std::vector<std::int64_t> spread_indices(std::int64_t size, std::int64_t count);

}  // namespace bitcycle
