#include "bitcycle/kernels/integer/code_makers.h"

#include "kernels/integer/codes/nest_step.h"
#include "kernels/integer/passes/pass_plans.h"

namespace bitcycle::integer {

void NestedCodes::make(int image, std::uint8_t* codes) const {
  finest_.make(image, codes);
  if (params_ == finest8_) return;
  passes().nest({.codes = codes,
                 .count = grid_.image_bytes(),
                 .step = nest_step(finest8_, params_),
                 .params = params_});
}

}  // namespace bitcycle::integer
