// Any bytes are a JPEG picture or damaged.

#include "data/pictures/jpeg.h"
#include "fuzz/data_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  expect_value_or_data_error([&] {
    const Image image = decode_jpeg(input_of(data, size), "input");
    expect(image.shape.channels == 3 && image.shape.elements() > 0);
    expect(image.pixels.size() == static_cast<std::size_t>(image.shape.elements()));
  });
  return 0;
}
