#pragma once

#include "kernels/integer/isa/pass_kernels.h"

namespace bitcycle::integer {

// How codes over one range become those of another width; see Note [Nested codes].
inline NestStep nest_step(const CodeParams& finest, const CodeParams& params) {
  return {.finest_zero = static_cast<float>(finest.zero_point),
          .ratio = finest.scale / params.scale,
          .zero = static_cast<float>(params.zero_point),
          .largest = static_cast<float>(params.largest_code())};
}

}  // namespace bitcycle::integer
