// Any bytes are a safetensors file or Error(checkpoint); and a file survives being encoded again.

#include "bitcycle/base/error.h"
#include "bitcycle/io/safetensors.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  try {
    const TensorFile file = decode_safetensors(std::as_bytes(std::span(data, size)), "input");
    if (decode_safetensors(encode_safetensors(file), "encoded") != file) std::abort();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::checkpoint) std::abort();
  }
  return 0;
}
