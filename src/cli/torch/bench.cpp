// `bitcycle bench` itself, in the program that has LibTorch.

#include "bitcycle/kernels/isa.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/report/table.h"
#include "bitcycle/train/step_bench.h"

#include "cli/torch/bench_support.h"
#include "cli/torch_commands.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

// Multiply-accumulates of a training step: forward, error and weight-gradient pass.
double step_gmacs(const Network& network, int batch) {
  return 3e-9 * static_cast<double>(network.macs()) * batch;
}

void print_json(const BenchStepOptions& options, Backend backend, const Network& network,
                const StepBench& result) {
  const nlohmann::ordered_json json = {
      {"model", options.model},
      {"batch", options.batch},
      {"bits", options.bits},
      {"grad_bits", options.grad_bits},
      {"backend", name(backend)},
      {"isa", name(active_isa())},
      {"threads", at::get_num_threads()},
      {"repeats", options.repeats},
      {"step_ms", result.step.median},
      {"step_ms_spread", result.step.spread},
      {"fp32_step_ms", result.float_step.median},
      {"fp32_step_ms_spread", result.float_step.spread},
      {"ratio", result.float_step.median / result.step.median},
      {"gmacs", 1e3 * step_gmacs(network, options.batch) / result.step.median},
      {"activation_bytes", result.activation_bytes},
      {"fp32_activation_bytes", result.float_activation_bytes}};
  fmt::print("{}\n", json.dump(2));
}

void print_text(const BenchStepOptions& options, Backend backend, const StepBench& result) {
  const auto row = [](const std::string& title, const Timing& timing, std::int64_t bytes) {
    return std::vector<std::string>{title, fmt::format("{:.1f}", timing.median),
                                    fmt::format("{:.1f}", timing.spread),
                                    fmt::format("{:.0f}", static_cast<double>(bytes) / 1e6)};
  };
  Table table({"step", "ms", "spread", "MB"});
  table.add_row(
      row(fmt::format("bitcycle {}/{} {}", options.bits, options.grad_bits, name(backend)),
          result.step, result.activation_bytes));
  table.add_row(row("LibTorch float", result.float_step, result.float_activation_bytes));
  fmt::print("{}, batch {}, {} threads, {}; median of {} and median distance from it\n{}",
             options.model, options.batch, at::get_num_threads(), name(active_isa()),
             options.repeats, table.text());
  fmt::print("ratio {:.2f} (float time over bitcycle's)\n",
             result.float_step.median / result.step.median);
}

}  // namespace

int run_bench_step(const BenchStepOptions& options) {
  use_threads(options.threads);
  const Network network = make_network(options.model);
  const LayerBits bits{options.bits, options.bits, options.bits == 0 ? 0 : options.grad_bits};
  const Backend backend = settle_backend(options.backend, network, static_precision(bits));
  const StepBench result = bench_step(
      network,
      {.batch = options.batch, .bits = bits, .backend = backend, .repeats = options.repeats});
  options.json ? print_json(options, backend, network, result)
               : print_text(options, backend, result);
  return 0;
}

}  // namespace bitcycle::cli
