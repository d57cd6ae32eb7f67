#include "bitcycle/quant/sample_choice.h"

#include <algorithm>

namespace bitcycle {

std::vector<int> SampleChoice::samples_of(std::size_t option) const {
  std::vector<int> samples;
  for (std::size_t i = 0; i < of_sample.size(); ++i) {
    if (of_sample[i] == static_cast<int>(option)) samples.push_back(static_cast<int>(i));
  }
  return samples;
}

LayerBits SampleChoice::widest() const {
  LayerBits widest;
  for (const LayerBits& bits : options) {
    widest = {std::max(widest.weight, bits.weight), std::max(widest.activation, bits.activation),
              std::max(widest.error, bits.error)};
  }
  return widest;
}

}  // namespace bitcycle
