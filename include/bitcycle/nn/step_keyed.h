#pragma once

// What draws random numbers in its forward pass. Before each step a controller sets the step's key,
// as it sets the precision of quantized layers; models/step_keys.h is one.

#include "bitcycle/base/random.h"

namespace bitcycle {

class StepKeyed {
 public:
  virtual ~StepKeyed() = default;

  // Starts the count of the step's calls.
  void set_step_key(RandomKey key) {
    key_ = key;
    calls_ = 0;
  }

 protected:
  // The key of the next call, other than that of any call before it in this step.
  RandomKey next_call_key() {
    const std::uint64_t call = calls_++;
    return call == 0 ? key_ : key_.derive("call").derive(call);
  }

 private:
  RandomKey key_{0};
  std::uint64_t calls_ = 0;
};

}  // namespace bitcycle
