#include "bitcycle/quant/schemes.h"

#include <cassert>

namespace bitcycle {

const Scheme& scheme_of(SchemeName name) {
  assert(name != SchemeName::automatic);
  return name == SchemeName::integer ? integer_scheme() : sbm_scheme();
}

}  // namespace bitcycle
