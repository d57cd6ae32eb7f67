// `bitcycle bench schedule` itself, in the program that has LibTorch.

#include "bitcycle/report/table.h"
#include "bitcycle/train/schedule_bench.h"
#include "bitcycle/train/threads.h"

#include "base/json_text.h"
#include "cli/torch/bench_support.h"
#include "cli/torch_commands.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

PrecisionRecipe precision_of(const BenchScheduleOptions& options) {
  PrecisionRecipe precision;
  precision.forward = two_cycles(options);
  precision.backward = {.min = options.grad_bits, .max = options.grad_bits};
  return precision;
}

struct Measurement {
  Backend backend;
  std::int64_t batch;
  ScheduleBench bench;
};

void print_json(const BenchScheduleOptions& options, const Measurement& measured) {
  const auto& [backend, batch, bench] = measured;
  Json rows = Json::array();
  for (const ScheduleBench::Row& row : bench.rows) {
    rows.push_back({{"bits", row.bits},
                    {"share", row.share},
                    {"step_ms", row.step.median},
                    {"step_ms_spread", row.step.spread}});
  }
  const Json json = {{"model", options.model},
                     {"batch", batch},
                     {"schedule", two_cycles(options).name},
                     {"grad_bits", options.grad_bits},
                     {"backend", name(backend)},
                     {"isa", name(active_isa())},
                     {"threads", at::get_num_threads()},
                     {"repeats", options.repeats},
                     {"rows", std::move(rows)},
                     {"static_bits", bench.static_bits},
                     {"static_step_ms", bench.static_step.median},
                     {"static_step_ms_spread", bench.static_step.spread},
                     {"fp32_step_ms", bench.float_step.median},
                     {"fp32_step_ms_spread", bench.float_step.spread},
                     {"cycle_steps", bench.cycle_steps},
                     {"cycle_ms", bench.cycle_ms()},
                     {"static_ms", bench.static_ms()},
                     {"saving_percent", bench.saving_percent()},
                     {"saving_percent_spread", bench.saving_spread}};
  fmt::print("{}\n", json_text(json, 2));
}

std::string width(int bits) {
  return bits == 0 ? "fp" : std::to_string(bits);
}

void print_text(const BenchScheduleOptions& options, const Measurement& measured) {
  const auto& [backend, batch, bench] = measured;
  Table table({"bits", "share of steps", "step ms", "spread"});
  const auto add = [&](const std::string& bits, const std::string& share, const Timing& step) {
    table.add_row(
        {bits, share, fmt::format("{:.1f}", step.median), fmt::format("{:.1f}", step.spread)});
  };
  for (const ScheduleBench::Row& row : bench.rows) {
    add(width(row.bits) + "/" + width(options.grad_bits), fmt::format("{:.1f} %", 100 * row.share),
        row.step);
  }
  add("static " + width(bench.static_bits), "-", bench.static_step);
  add("LibTorch float", "-", bench.float_step);
  fmt::print("{} {}, batch {}, {}, {} threads, {}; median of {} and median distance from it\n{}",
             options.model, two_cycles(options).name, batch, name(backend), at::get_num_threads(),
             name(active_isa()), options.repeats, table.text());
  fmt::print(
      "a cycle of {} steps: {:.1f} s, static {}: {:.1f} s; saving {:.1f} % (spread {:.1f})\n",
      bench.cycle_steps, 1e-3 * bench.cycle_ms(), width(bench.static_bits),
      1e-3 * bench.static_ms(), bench.saving_percent(), bench.saving_spread);
}

}  // namespace

int run_bench_schedule(const BenchScheduleOptions& options) {
  use_threads(options.threads);
  const BenchSubject subject = open_subject(options.model, options.batch);
  const Backend backend = settle_backend(options.backend, subject.layers, precision_of(options));
  const ScheduleBench bench = bench_schedule(subject, {.forward = two_cycles(options),
                                                       .grad_bits = options.grad_bits,
                                                       .backend = backend,
                                                       .cycle_steps = options.cycle_steps,
                                                       .repeats = options.repeats});
  const Measurement measured{backend, subject.batch, bench};
  options.json ? print_json(options, measured) : print_text(options, measured);
  return 0;
}

}  // namespace bitcycle::cli
