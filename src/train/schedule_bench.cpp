#include "bitcycle/train/schedule_bench.h"

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/schedule/summary.h"

namespace bitcycle {
namespace {

// Because the cycles of triangular schedules fall and rise in turn.
Step two_cycles(const ScheduleBenchOptions& options) {
  return 2 * options.cycle_steps;
}

std::vector<Level> visited_levels(const ScheduleBenchOptions& options) {
  const Step steps = two_cycles(options);
  return levels(make_schedule(options.forward, steps), steps);
}

// In percent, of each repeat by itself: what disturbed a repeat disturbed all of its steps.
std::vector<double> savings(const std::vector<ScheduleBench::Row>& rows,
                            const StepBench& measured) {
  std::vector<double> savings;
  const std::vector<double>& fixed = measured.steps.back().milliseconds;
  for (std::size_t repeat = 0; repeat < fixed.size(); ++repeat) {
    double step = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      step += rows[i].share * measured.steps[i].milliseconds[repeat];
    }
    savings.push_back(100 * (1 - step / fixed[repeat]));
  }
  return savings;
}

}  // namespace

double ScheduleBench::cycle_ms() const {
  double step = 0;
  for (const Row& row : rows) step += row.share * row.step.median;
  return static_cast<double>(cycle_steps) * step;
}

StepBenchOptions steps_of(const ScheduleBenchOptions& options) {
  StepBenchOptions bench{.backend = options.backend, .repeats = options.repeats};
  const std::vector<Level> visited = visited_levels(options);
  for (const Level& level : visited) {
    bench.bits.push_back(layer_bits(level.bits, options.grad_bits));
  }
  const int upper = max_bits(options.forward);
  if (visited.back().bits != upper) bench.bits.push_back(layer_bits(upper, options.grad_bits));
  return bench;
}

ScheduleBench assess(const ScheduleBenchOptions& options, const StepBench& measured) {
  ScheduleBench result{.static_bits = max_bits(options.forward),
                       .static_step = measured.steps.back().time,
                       .float_step = measured.float_step.time,
                       .cycle_steps = options.cycle_steps};
  const auto steps = static_cast<double>(two_cycles(options));
  for (const Level& level : visited_levels(options)) {
    result.rows.push_back({level.bits, static_cast<double>(level.steps) / steps,
                           measured.steps[result.rows.size()].time});
  }
  result.saving_spread = summarise(savings(result.rows, measured)).spread;
  return result;
}

ScheduleBench bench_schedule(const BenchSubject& subject, const ScheduleBenchOptions& options) {
  return assess(options, bench_steps(subject, steps_of(options)));
}

}  // namespace bitcycle
