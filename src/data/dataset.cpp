#include "bitcycle/data/dataset.h"

#include "bitcycle/base/fingerprint.h"

#include <algorithm>

namespace bitcycle {
namespace {

constexpr std::int64_t kSampledPictures = 256;

}  // namespace

std::string Dataset::fingerprint() const {
  Fingerprint print;
  print.add(size());
  print.add(classes());
  for (std::int64_t i = 0; i < size(); ++i) print.add(label(i));
  for (const std::int64_t i : spread_indices(size(), kSampledPictures)) {
    const Image picture = image(i);
    print.add(std::as_bytes(std::span(picture.pixels)));
  }
  return print.text();
}

std::vector<std::int64_t> spread_indices(std::int64_t size, std::int64_t count) {
  const std::int64_t taken = std::min(size, count);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < taken; ++i) {
    indices.push_back(taken == 1 ? 0 : i * (size - 1) / (taken - 1));
  }
  return indices;
}

}  // namespace bitcycle
