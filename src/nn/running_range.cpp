#include "bitcycle/nn/running_range.h"

#include "bitcycle/kernels/finite.h"

#include <algorithm>

namespace bitcycle {
namespace {

// What is not finite stays so.
Range united(Range a, Range b) {
  if (!finite(a) || !finite(b)) return kPoisoned;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

}  // namespace

void RunningRange::register_on(torch::nn::Module& module, const at::TensorOptions& options) {
  range_ = module.register_buffer("running_range", at::zeros({1}, options));
  zero_ = module.register_buffer("running_zero", at::zeros({1}, options));
  steps_ = module.register_buffer("steps_tracked", at::zeros({1}, options.dtype(at::kLong)));
}

bool RunningRange::tracks() const {
  return steps_.item<std::int64_t>() > 0;
}

Range RunningRange::average() const {
  const float zero = zero_.item<float>();
  return {zero, zero + range_.item<float>()};
}

void RunningRange::track(Range range) {
  if (step_) {
    range = united(step_->inputs, range);
  } else {
    step_ = TrackedStep{range_.item<float>(), zero_.item<float>(), steps_.item<std::int64_t>(), {}};
  }
  step_->inputs = range;
  if (step_->steps == 0 && start == RangeStart::first_batch) {
    range_.fill_(range.high - range.low);
    zero_.fill_(range.low);
  } else {
    range_.fill_(step_->range).mul_(weights.keep).add_(weights.take * (range.high - range.low));
    zero_.fill_(step_->zero).mul_(weights.keep).add_(weights.take * range.low);
  }
  steps_.fill_(step_->steps + 1);
}

}  // namespace bitcycle
