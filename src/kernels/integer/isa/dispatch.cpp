#include "kernels/integer/isa/microkernels.h"

namespace bitcycle::integer {
namespace {

const Microkernels* forced_table = nullptr;

const Microkernels& table_of(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512:
      return avx512_microkernels();
    case Isa::avx2:
      return avx2_microkernels();
#endif
    default:
      return scalar_microkernels();
  }
}

}  // namespace

const Microkernels& microkernels() {
  return forced_table != nullptr ? *forced_table : table_of(active_isa());
}

ScopedIsa::ScopedIsa(Isa isa) : ScopedIsa(table_of(isa)) {}
ScopedIsa::ScopedIsa(const Microkernels& table) : previous_(forced_table) {
  forced_table = &table;
}
ScopedIsa::~ScopedIsa() {
  forced_table = previous_;
}

}  // namespace bitcycle::integer
