// Any bytes are an archive or damaged, and no entry's name leads out of its directory.

#include "data/archive.h"
#include "fuzz/data_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  expect_value_or_data_error([&] {
    unpack(input_of(data, size), "d", "input", [](const std::string& name, Input) {
      expect(!name.empty() && name != "." && name != ".." && name.find('/') == name.npos);
    });
  });
  return 0;
}
