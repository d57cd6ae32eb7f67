#include "bitcycle/cost/epoch_work.h"

#include "train/trainer_implementation.h"

#include <algorithm>

namespace bitcycle {

// The first steps make what later ones find made, and are not timed.
Rehearsal Trainer::Implementation::rehearse(int steps) {
  constexpr int kUntimed = 2;
  Rehearsal result{.layers = session.task().layers(), .backend = name(session.backend().backend)};
  for (const at::Tensor& tensor : session.model().parameters()) result.parameters += tensor.numel();
  const auto work = [&](std::int64_t count) { return session.task().work_of_batches(count); };
  result.run_work = work_of_steps(work, total, recipe().optimizer.accumulate);
  start_from_weights();
  state.plateau.factor = 0;
  session.model().train();
  session.task().start(0);
  for (int i = -kUntimed; i < steps; ++i) {
    state.step = std::min(total - 1, total * (2 * std::max(i, 0) + 1) / (2 * steps));
    double work = 0;
    const double seconds = seconds_of([&] { work = compute_step().work; });
    if (i < 0) continue;
    result.seconds.push_back(seconds);
    result.work += work;
  }
  return result;
}

TrainOutcome Trainer::Implementation::practise(const StopSignal& stop_signal, EventSinks told,
                                               const std::function<bool()>& enough) {
  sinks = std::move(told);
  start_from_weights();
  session.model().train();
  session.task().start(0);
  try {
    while (state.step < total && !enough()) {
      timed_step();
      stop_signal.check();
    }
  } catch (const Stopped&) {
    return TrainOutcome::stopped;
  }
  return TrainOutcome::finished;
}

}  // namespace bitcycle
