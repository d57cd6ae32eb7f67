// Any text is a recipe or one Error(recipe); and a recipe survives being written and read again.

#include "bitcycle/base/error.h"
#include "bitcycle/config/recipe.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bitcycle;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // What follows a 0 byte is a --set, so that settings are fuzzed as well.
  const std::size_t end = input.find('\0');
  std::vector<std::string> settings;
  if (end != input.npos) settings.emplace_back(input.substr(end + 1));
  std::string text;
  try {
    text = to_toml(parse_recipe(input.substr(0, end), "input", settings));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::recipe) std::abort();
    return 0;
  }
  if (to_toml(parse_recipe(text, "written")) != text) std::abort();
  return 0;
}
