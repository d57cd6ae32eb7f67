#pragma once

// Loops that must disappear at compile time. Accumulators live in arrays of registers; only a loop
// that is unrolled for certain keeps them there, whatever the compiler's own idea of profit.

#include <type_traits>
#include <utility>

namespace bitcycle::integer {

template <int kCount, typename Body>
[[gnu::always_inline]] inline void unroll(Body&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

}  // namespace bitcycle::integer
