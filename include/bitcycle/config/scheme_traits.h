#pragma once

// What is known of a scheme without LibTorch: which layers it keeps in float, and which recipes it
// is defined for. The quantizers themselves are in bitcycle/quant/schemes.h.

#include "bitcycle/config/recipe.h"
#include "bitcycle/network/network.h"

namespace bitcycle {

struct SchemeTraits {
  // By whose word layers are in float: the network's own; that of the scheme, whose first and last
  // layer are; or nobody's.
  enum class InFloat { by_network, first_and_last, none };
  // What the definition asks of the model.
  enum class Models { any, for_pictures };
  // Of the optimizer: any, or SGD with momentum, whose arithmetic it quantizes.
  enum class Optimizers { any, sgd };

  InFloat in_float = InFloat::by_network;
  Models models = Models::any;
  Optimizers optimizers = Optimizers::any;
  int min_bits = 1;
};

SchemeTraits traits_of(SchemeName scheme);

// `network` with those layers in float that are so in the scheme.
Network in_scheme(Network network, SchemeName scheme);

}  // namespace bitcycle
