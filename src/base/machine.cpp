#include "bitcycle/base/machine.h"

#include <fstream>

namespace bitcycle {

std::string processor_name(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace bitcycle
