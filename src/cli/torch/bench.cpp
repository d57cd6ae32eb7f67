// `bitcycle bench step` itself, in the program that has LibTorch.

#include "bitcycle/base/error.h"
#include "bitcycle/cost/cost_model.h"
#include "bitcycle/kernels/integer/code_planes.h"
#include "bitcycle/kernels/integer/domain.h"
#include "bitcycle/kernels/peak.h"
#include "bitcycle/report/table.h"
#include "bitcycle/train/step_bench.h"
#include "bitcycle/train/threads.h"

#include "base/json_text.h"
#include "cli/torch/bench_support.h"
#include "cli/torch_commands.h"
#include "config/statistics_interval.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

struct Report {
  std::int64_t batch = 0;
  Backend backend = Backend::simulate;
  MeasuredStep step;        // Bitcycle
  MeasuredStep float_step;  // LibTorch
  std::optional<MeasuredStep> authors_step, looked_step;
  double gmacs = 0;       // billion multiply-accumulates a second
  double peak_gmacs = 0;  // what the multiply instructions alone would reach

  double ratio() const { return float_step.time.median / step.time.median; }
  double authors_ratio() const { return authors_step->time.median / step.time.median; }
  // Of the time of as many steps as lie between two looks.
  double statistics_percent() const {
    const double more = looked_step->time.median / step.time.median - 1;
    return 100 * more / static_cast<double>(kStatisticsApart);
  }
};

double peak_of(Backend backend, LayerBits bits) {
  const bool executed = backend == Backend::integer && integer::takes_widths(bits);
  if (!executed) return measure_peak_gmacs(float_mixes());
  const auto planes = integer::planes_of({.bits = bits.error});
  return measure_peak_gmacs(code_mixes(active_isa(), bits), static_cast<int>(planes.size()));
}

Report measure(const BenchStepOptions& options, const BenchSubject& subject) {
  const LayerBits bits = layer_bits(options.bits, options.grad_bits);
  Report report{.batch = subject.batch,
                .backend = settle_backend(options.backend, subject.layers, static_precision(bits))};
  const StepBench bench =
      bench_steps(subject, {.bits = {bits},
                            .backend = report.backend,
                            .authors = options.authors ? std::optional(bits) : std::nullopt,
                            .statistics = options.statistics,
                            .repeats = options.repeats});
  report.step = bench.steps.front();
  report.float_step = bench.float_step;
  report.authors_step = bench.authors_step;
  report.looked_step = bench.looked_step;
  report.gmacs = 1e-6 * subject.step_macs() / report.step.time.median;
  report.peak_gmacs = peak_of(report.backend, bits);
  return report;
}

void print_json(const BenchStepOptions& options, const Report& report) {
  const MeasuredStep &step = report.step, &float_step = report.float_step;
  nlohmann::ordered_json json = {{"model", options.model},
                                 {"batch", report.batch},
                                 {"bits", options.bits},
                                 {"grad_bits", options.grad_bits},
                                 {"backend", name(report.backend)},
                                 {"isa", name(active_isa())},
                                 {"threads", at::get_num_threads()},
                                 {"repeats", options.repeats},
                                 {"step_ms", step.time.median},
                                 {"step_ms_spread", step.time.spread},
                                 {"fp32_step_ms", float_step.time.median},
                                 {"fp32_step_ms_spread", float_step.time.spread},
                                 {"ratio", report.ratio()},
                                 {"gmacs", report.gmacs},
                                 {"peak_gmacs", report.peak_gmacs},
                                 {"activation_bytes", step.activation_bytes},
                                 {"fp32_activation_bytes", float_step.activation_bytes}};
  if (report.authors_step) {
    json["authors_step_ms"] = report.authors_step->time.median;
    json["authors_step_ms_spread"] = report.authors_step->time.spread;
    json["authors_ratio"] = report.authors_ratio();
    json["authors_activation_bytes"] = report.authors_step->activation_bytes;
  }
  if (report.looked_step) {
    json["looked_step_ms"] = report.looked_step->time.median;
    json["looked_step_ms_spread"] = report.looked_step->time.spread;
    json["statistics_percent"] = report.statistics_percent();
  }
  fmt::print("{}\n", json_text(json, 2));
}

void print_text(const BenchStepOptions& options, const Report& report) {
  const auto row = [](const std::string& title, const MeasuredStep& step) {
    const double megabytes = 1e-6 * static_cast<double>(step.activation_bytes);
    return std::vector<std::string>{title, fmt::format("{:.1f}", step.time.median),
                                    fmt::format("{:.1f}", step.time.spread),
                                    fmt::format("{:.0f}", megabytes)};
  };
  Table table({"step", "ms", "spread", "MB"});
  table.add_row(
      row(fmt::format("bitcycle {}/{} {}", options.bits, options.grad_bits, name(report.backend)),
          report.step));
  table.add_row(row("LibTorch float", report.float_step));
  if (report.authors_step) {
    table.add_row(row(fmt::format("CPT authors' way {}/{}", options.bits, options.grad_bits),
                      *report.authors_step));
  }
  if (report.looked_step) table.add_row(row("looked at", *report.looked_step));
  fmt::print("{}, batch {}, {} threads, {}; median of {} and median distance from it\n{}",
             options.model, report.batch, at::get_num_threads(), name(active_isa()),
             options.repeats, table.text());
  fmt::print("ratio {:.2f} (float time over bitcycle's)\n", report.ratio());
  if (report.authors_step) {
    fmt::print("the authors' way takes {:.2f} times as long as bitcycle\n", report.authors_ratio());
  }
  if (report.looked_step) {
    fmt::print("looking at one step in {}, the most that runs do by default, takes {:.2f} % more\n",
               kStatisticsApart, report.statistics_percent());
  }
  fmt::print("{:.1f} GMAC/s, {:.0f} % of the {:.1f} that the multiply instructions alone reach\n",
             report.gmacs, 100 * report.gmacs / report.peak_gmacs, report.peak_gmacs);
}

}  // namespace

int run_bench_step(const BenchStepOptions& options) {
  use_threads(options.threads);
  const BenchSubject subject = open_subject(options.model, options.batch);
  if (options.authors && !subject.authors) {
    throw Error(ErrorCode::usage,
                "--authors expects a network for pictures, found " + options.model,
                "Leave --authors out.");
  }
  const Report report = measure(options, subject);
  options.json ? print_json(options, report) : print_text(options, report);
  return 0;
}

}  // namespace bitcycle::cli
