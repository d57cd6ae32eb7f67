#include "bitcycle/network/layer_bits.h"

namespace bitcycle {
namespace {

std::string width(int bits) {
  return bits == 0 ? "fp" : std::to_string(bits);
}

}  // namespace

std::string to_text(LayerBits bits) {
  const std::string forward = bits.weight == bits.activation
                                  ? width(bits.weight)
                                  : width(bits.weight) + "w " + width(bits.activation) + "a";
  return forward + "/" + width(bits.error);
}

}  // namespace bitcycle
