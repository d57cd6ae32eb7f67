#pragma once

#include "bitcycle/network/layer_bits.h"

#include <ostream>

namespace bitcycle {

// Prints "w4 a4 e8", float as "fp".
inline std::ostream& operator<<(std::ostream& stream, LayerBits bits) {
  const auto print = [&](const char* role, int width) {
    stream << role;
    width == 0 ? stream << "fp" : stream << width;
  };
  print("w", bits.weight);
  print(" a", bits.activation);
  print(" e", bits.error);
  return stream;
}

}  // namespace bitcycle
