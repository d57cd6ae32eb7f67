#include "bitcycle/quant/schemes.h"

#include <cassert>

namespace bitcycle {

const Scheme& scheme_of(SchemeName name) {
  assert(name != SchemeName::automatic);
  switch (name) {
    case SchemeName::integer:
      return integer_scheme();
    case SchemeName::dorefa:
      return dorefa_scheme();
    case SchemeName::sbm_banner:
      return sbm_banner_scheme();
    case SchemeName::wageubn_lite:
      return wageubn_lite_scheme();
    case SchemeName::wageubn_full:
      return wageubn_full_scheme();
    case SchemeName::automatic:
    case SchemeName::sbm:
      return sbm_scheme();
  }
  return sbm_scheme();
}

}  // namespace bitcycle
