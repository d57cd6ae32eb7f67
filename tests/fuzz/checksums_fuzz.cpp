// Any text is a list of sums or damaged.

#include "data/checksum.h"
#include "fuzz/data_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  expect_value_or_data_error([&] {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& [name, sum] : parse_checksums(text, "input")) {
      expect(!name.empty() && sum.size() == 32);
    }
  });
  return 0;
}
