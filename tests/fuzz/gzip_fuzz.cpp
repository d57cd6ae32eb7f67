// Any bytes are a gzip file or damaged.

#include "data/gzip.h"
#include "fuzz/data_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  expect_value_or_data_error([&] { gunzip(input_of(data, size), "input", 1 << 20); });
  return 0;
}
