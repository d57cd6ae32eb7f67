// `bitcycle bench step --policy dynamic` itself, in the program that has LibTorch.

#include "bitcycle/base/error.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/kernels/isa.h"
#include "bitcycle/report/table.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/dynamic_bench.h"
#include "bitcycle/train/threads.h"

#include "base/json_text.h"
#include "cli/runs/run_paths.h"
#include "cli/torch/bench_support.h"
#include "cli/torch_commands.h"
#include "config/fields.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

// That of a run whose choices are drawn, else the list by name.
DynamicRecipe precision_of(const BenchDynamicOptions& options) {
  if (!options.choices.empty()) return *read_recipe(run_recipe(options.choices)).precision.dynamic;
  DynamicRecipe recipe;
  recipe.options =
      std::ranges::find(named_options(), options.options, &NamedOptions::name)->options;
  recipe.weight = options.weight;
  recipe.target = {3.0};
  return recipe;
}

// What the gates of a run chose when it last logged.
ChoiceCounts last_choices(const std::string& run) {
  const std::vector<LoggedStep> steps = logged_steps(run);
  if (!steps.empty() && !steps.back().choices.empty()) return steps.back().choices;
  throw Error(ErrorCode::usage,
              "--choices expects a run with precision.dynamic that has logged a step, found \"" +
                  run + "\"");
}

nlohmann::ordered_json to_json(const MeasuredStep& step) {
  return {{"step_ms", step.time.median},
          {"step_ms_spread", step.time.spread},
          {"activation_bytes", step.activation_bytes}};
}

void print_json(const BenchDynamicOptions& options, const DynamicBench& bench) {
  nlohmann::ordered_json json = {{"model", options.model},
                                 {"batch", options.batch},
                                 {"policy", "dynamic"},
                                 {"options", options.options},
                                 {"weight_bits", options.weight},
                                 {"choices", options.choices.empty() ? "even" : options.choices},
                                 {"isa", name(active_isa())},
                                 {"threads", at::get_num_threads()},
                                 {"repeats", options.repeats}};
  json.update(to_json(bench.dynamic));
  json["static_step_ms"] = bench.static_step.time.median;
  json["static_step_ms_spread"] = bench.static_step.time.spread;
  json["static_activation_bytes"] = bench.static_step.activation_bytes;
  json["ratio"] = bench.dynamic.time.median / bench.static_step.time.median;
  json["skip"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < bench.skipping.size(); ++i) {
    nlohmann::ordered_json row = {{"percent", options.skip[i]}};
    row.update(to_json(bench.skipping[i]));
    json["skip"].push_back(std::move(row));
  }
  fmt::print("{}\n", json_text(json, 2));
}

void print_text(const BenchDynamicOptions& options, const DynamicBench& bench) {
  const double static_ms = bench.static_step.time.median;
  const auto row = [&](const std::string& title, const MeasuredStep& step) {
    return std::vector<std::string>{
        title, fmt::format("{:.1f}", step.time.median), fmt::format("{:.1f}", step.time.spread),
        fmt::format("{:.2f}", step.time.median / static_ms),
        fmt::format("{:.0f}", 1e-6 * static_cast<double>(step.activation_bytes))};
  };
  Table table({"step", "ms", "spread", "of static", "MB"});
  table.add_row(row(fmt::format("dynamic, {} options, {} weights", options.options, options.weight),
                    bench.dynamic));
  for (std::size_t i = 0; i < bench.skipping.size(); ++i) {
    table.add_row(row(fmt::format("{:g} % skipped", options.skip[i]), bench.skipping[i]));
  }
  table.add_row(row("static 8/8", bench.static_step));
  fmt::print("{}, batch {}, {} threads, {}; median of {} and median distance from it\n{}",
             options.model, options.batch, at::get_num_threads(), name(active_isa()),
             options.repeats, table.text());
}

}  // namespace

int run_bench_dynamic(const BenchDynamicOptions& options) {
  use_threads(options.threads);
  use_caching_allocator();
  // Asked first: it says in words where a run has no gates.
  ChoiceCounts choices;
  if (!options.choices.empty()) choices = last_choices(options.choices);
  DynamicBenchOptions bench{.model = options.model,
                            .batch = options.batch,
                            .precision = precision_of(options),
                            .choices = std::move(choices),
                            .repeats = options.repeats};
  for (const double percent : options.skip) bench.skipped.push_back(percent / 100);
  const DynamicBench result = bench_dynamic(bench);
  options.json ? print_json(options, result) : print_text(options, result);
  return 0;
}

}  // namespace bitcycle::cli
