#include "bitcycle/train/schedule_bench.h"

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/schedule/summary.h"

namespace bitcycle {
namespace {

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

// Two cycles, because those of triangular schedules fall and rise in turn.
ScheduleBench bench_schedule(const Network& network, const ScheduleBenchOptions& options) {
  const Step steps = 2 * options.cycle_steps;
  const std::vector<Level> visited = levels(make_schedule(options.forward, steps), steps);
  const int upper = max_bits(options.forward);
  StepBenchOptions bench{
      .batch = options.batch, .backend = options.backend, .repeats = options.repeats};
  for (const Level& level : visited)
    bench.bits.push_back(layer_bits(level.bits, options.grad_bits));
  if (visited.back().bits != upper) bench.bits.push_back(layer_bits(upper, options.grad_bits));
  const StepBench measured = bench_steps(network, bench);
  ScheduleBench result{.static_bits = upper,
                       .static_step = measured.steps.back().time,
                       .float_step = measured.float_step.time,
                       .cycle_steps = options.cycle_steps};
  for (std::size_t i = 0; i < visited.size(); ++i) {
    const double share = static_cast<double>(visited[i].steps) / static_cast<double>(steps);
    result.rows.push_back({visited[i].bits, share, measured.steps[i].time});
  }
  result.saving_spread = summarise(savings(result.rows, measured)).spread;
  return result;
}

}  // namespace bitcycle
