// Two IDX files in one input: a byte with the length of the labels, the labels, the pictures.

#include "data/idx.h"
#include "fuzz/data_fuzz.h"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  if (size == 0) return 0;
  const Input input = input_of(data, size).subspan(1);
  const Input labels = input.first(std::min<std::size_t>(data[0], input.size()));
  const Input images = input.subspan(labels.size());
  expect_value_or_data_error([&] {
    const PackedImages read = decode_idx_images({images, "images"}, {labels, "labels"}, 10);
    expect(read.pixels.size() ==
           read.labels.size() * static_cast<std::size_t>(read.shape.elements()));
    expect(std::all_of(read.labels.begin(), read.labels.end(), [](int l) { return l < 10; }));
  });
  return 0;
}
