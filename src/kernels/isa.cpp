#include "bitcycle/kernels/isa.h"

#include "bitcycle/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bitcycle {
namespace {

constexpr Isa kAll[] = {Isa::scalar, Isa::avx2, Isa::avx512};

#if defined(__x86_64__)
// clang 14 does not know f16c as a name for __builtin_cpu_supports.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

bool supported(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return true;
#if defined(__x86_64__)
    case Isa::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case Isa::avx512:
      return supported(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
#endif
    default:
      return false;
  }
}

Isa choose() {
  const auto available = available_isas();
  const char* forced = std::getenv("BITCYCLE_ISA");
  if (forced == nullptr || *forced == '\0') return available.back();
  for (Isa isa : available) {
    if (name(isa) == forced) return isa;
  }
  std::string names;
  for (Isa isa : available) names += (names.empty() ? "" : ", ") + std::string(name(isa));
  throw Error(ErrorCode::usage,
              "BITCYCLE_ISA is \"" + std::string(forced) + "\", which this machine cannot run",
              "Instruction sets here: " + names + ". Unset BITCYCLE_ISA to take the best.");
}

}  // namespace

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return "scalar";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
  }
  return "unknown";
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  std::copy_if(std::begin(kAll), std::end(kAll), std::back_inserter(isas), supported);
  return isas;
}

Isa active_isa() {
  static const Isa isa = choose();
  return isa;
}

}  // namespace bitcycle
