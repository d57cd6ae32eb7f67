// Any text is the DONE marker of a checkpoint or Error(checkpoint). The checksum of the last line
// would stop a fuzzer at once, so it is also put right, and the text tried again.

#include "bitcycle/base/error.h"

#include "io/manifest.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void decode(const std::string& text) {
  using namespace bitcycle;
  try {
    const Manifest manifest = decode_manifest(text, "input");
    for (const auto& [name, seal] : manifest) {
      if (name.find('/') != name.npos) std::abort();
    }
    if (encode_manifest(manifest) != text) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::checkpoint) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  const std::string text(reinterpret_cast<const char*>(data), size);
  decode(text);
  char line[32] = {};
  std::snprintf(line, sizeof line, "DONE %08x\n", seal(std::as_bytes(std::span(text))).crc);
  decode(text + line);
  return 0;
}
