#include "bitcycle/network/layer_bits.h"

#include <algorithm>

namespace bitcycle {
namespace {

std::string width(int bits) {
  return bits == 0 ? "fp" : std::to_string(bits);
}

}  // namespace

void Mixture::add(LayerBits own, double share) {
  const auto found = std::ranges::find(bits, own);
  if (found != bits.end()) {
    shares[static_cast<std::size_t>(found - bits.begin())] += share;
    return;
  }
  bits.push_back(own);
  shares.push_back(share);
}

std::string to_text(LayerBits bits) {
  return forward_text(bits) + "/" + width(bits.error);
}

std::string forward_text(LayerBits bits) {
  if (bits.weight == bits.activation) return width(bits.weight);
  return width(bits.weight) + "w " + width(bits.activation) + "a";
}

}  // namespace bitcycle
