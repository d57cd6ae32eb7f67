// `bitcycle bench`: measured speed on this machine, always beside a baseline.

#include "bitcycle/base/error.h"

#include "cli/command.h"
#include "cli/schedule/schedule_option.h"
#include "cli/torch_commands.h"
#include "config/fields.h"

#include <memory>

namespace bitcycle::cli {
namespace {

constexpr const char* kStepFooter =
    "Times one training step (forward, backward, optimizer) of Bitcycle and of LibTorch's float\n"
    "network, taking turns in one process with the same threads, and prints medians. `ratio` is "
    "the\n"
    "float time divided by Bitcycle's: above 1, Bitcycle is faster. `peak_gmacs` is what the\n"
    "multiply instructions of the three passes alone reach here, on all threads; gmacs over it is\n"
    "the part of a step for which the multiply units are busy at least.\n"
    "--authors adds a step in which the same bits are simulated as the code of CPT's authors does\n"
    "it: every quantizer in separate float operations over whole tensors, autograd, LibTorch's\n"
    "default layout; `authors_ratio` is its time divided by Bitcycle's.\n"
    "--statistics adds a step in which what quantizing does to every layer is looked at and "
    "written\n"
    "for layers.jsonl and TensorBoard; `statistics_percent` is what that takes more, when one "
    "step\n"
    "in a hundred is looked at, which is the most that a run does unless its recipe says so\n"
    "(statistics_every).\n"
    "--policy dynamic times a network whose gates choose the precision of each block for each\n"
    "sample (precision.dynamic), beside the same network at static 8/8, both in integers. Choices\n"
    "are drawn, all options equally often, or as often as the gates of a run chose them when it\n"
    "last logged (--choices); gates run and learn as in training. --skip adds steps in which so\n"
    "many percent of the samples skip each block.\n"
    "BITCYCLE_ISA=avx2 limits both sides to AVX2 on machines that have more.\n"
    "\n"
    "Example:\n"
    "  bitcycle bench step --model cifar_resnet38 --batch 128 --bits 3 --grad-bits 8\n"
    "  bitcycle bench step --policy dynamic --skip 0,25,50,75\n"
    "  bitcycle bench step --bits 3 --backend integer --authors";

constexpr const char* kScheduleFooter =
    "Times a training step at every width that a cycle of the schedule visits, at its upper bound\n"
    "(static) and in LibTorch's float, taking turns in one process. A cycle costs each width's\n"
    "median times the steps spent there; `saving` is against as many static steps,\n"
    "and its spread the median distance of single repeats' savings from their median.\n"
    "\n"
    "Example:\n"
    "  bitcycle bench schedule --model cifar_resnet38 --batch 128 --bits 3:8 --grad-bits 8";

// What every bench command is told in the same way.
template <typename Options>
void add_common(CLI::App& command, Options& options) {
  command.add_option("--model", options.model, "Model (bitcycle models)")->capture_default_str();
  command
      .add_option("--batch", options.batch,
                  "Samples a step; default 128, of lstm_lm 20 columns, of transformer_lm 4 windows")
      ->check(CLI::Range(1, 65536));
  command.add_option("--grad-bits", options.grad_bits, "Backward bits, 0 for float")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  command.add_option("--backend", options.backend, "How low precision is computed")
      ->check(CLI::IsMember(words(PrecisionRecipe::Backend{})))
      ->capture_default_str();
  command
      .add_option("--threads", options.threads, "Threads; 0 for one on each core that may be used")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_option("--repeats", options.repeats, "Timed steps of each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print JSON");
}

void check_authors(const BenchStepOptions& options) {
  if (!options.authors || options.bits > 0) return;
  throw Error(ErrorCode::usage, "--authors expects --bits of at least 1, found 0",
              "Float has nothing to simulate; leave --authors out.");
}

// Options of one policy mean nothing to the other.
void refuse_given(const CLI::App& command, const std::vector<std::string>& names,
                  const std::string& policy) {
  for (const std::string& name : names) {
    if (command.count(name) == 0) continue;
    throw Error(ErrorCode::usage, name + " has no meaning with --policy " + policy,
                "Leave it out, or see `bitcycle bench step --help`.");
  }
}

void add_dynamic(CLI::App& command, BenchDynamicOptions& options) {
  std::vector<std::string> lists;
  for (const NamedOptions& list : named_options()) lists.push_back(list.name);
  const std::string group = "With --policy dynamic";
  command.add_option("--options", options.options, "What is chosen between: the papers' lists")
      ->check(CLI::IsMember(lists))
      ->capture_default_str()
      ->group(group);
  command.add_option("--weight", options.weight, "Bits of weights")
      ->check(CLI::Range(2, 8))
      ->capture_default_str()
      ->group(group);
  command.add_option("--choices", options.choices, "A run whose gates' choices are drawn from")
      ->group(group);
  command.add_option("--skip", options.skip, "Percentages of samples that skip, e.g. 0,25,50,75")
      ->delimiter(',')
      ->check(CLI::Range(0, 100))
      ->group(group);
}

int run_step(const CLI::App& command, const BenchStepOptions& options, BenchDynamicOptions dynamic,
             const std::string& policy) {
  if (policy == "static") {
    refuse_given(command, {"--options", "--weight", "--choices", "--skip"}, policy);
    check_authors(options);
    return run_bench_step(options);
  }
  refuse_given(command, {"--bits", "--grad-bits", "--backend", "--authors", "--statistics"},
               policy);
  dynamic.model = options.model;
  dynamic.batch = options.batch.value_or(dynamic.batch);
  dynamic.threads = options.threads;
  dynamic.repeats = options.repeats;
  dynamic.json = options.json;
  return run_bench_dynamic(dynamic);
}

void add_bench_step(CLI::App& bench, Action& action) {
  auto* command =
      bench.add_subcommand("step", "Time a training step against LibTorch's float step");
  auto options = std::make_shared<BenchStepOptions>();
  command->add_option("--bits", options->bits, "Forward bits, 0 for float")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  command->add_flag("--authors", options->authors,
                    "Also time the same bits simulated in the way of CPT's authors");
  command->add_flag("--statistics", options->statistics,
                    "Also time a step in which layers.jsonl gets a line");
  auto policy = std::make_shared<std::string>("static");
  command->add_option("--policy", *policy, "Who decides the bits")
      ->check(CLI::IsMember({"static", "dynamic"}))
      ->capture_default_str();
  add_common(*command, *options);
  auto dynamic = std::make_shared<BenchDynamicOptions>();
  add_dynamic(*command, *dynamic);
  command->footer(kStepFooter);
  command->callback(
      [=, &action] { action = [=] { return run_step(*command, *options, *dynamic, *policy); }; });
}

void add_bench_schedule(CLI::App& bench, Action& action) {
  auto* command =
      bench.add_subcommand("schedule", "Time a cycle of a precision schedule against static");
  auto options = std::make_shared<BenchScheduleOptions>();
  command
      ->add_option("--bits", options->bits,
                   "Forward bits: 3:8, or 8 for static, or a schedule such as \"CR 3:8 x2\"")
      ->capture_default_str();
  command
      ->add_option("--schedule", options->schedule, "How bits move in a range (bitcycle schedule)")
      ->capture_default_str();
  command->add_option("--cycle-steps", options->cycle_steps, "Steps of a cycle")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_common(*command, *options);
  command->footer(kScheduleFooter);
  command->callback(
      [options, &action] { action = [options] { return run_bench_schedule(*options); }; });
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto* bench = app.add_subcommand("bench", "Measure speed on this machine");
  bench->require_subcommand(1);
  bench->footer(
      "Examples:\n"
      "  bitcycle bench step --bits 3 --backend integer     a training step beside LibTorch's\n"
      "  bitcycle bench schedule --bits 3:8                 a cycle of a schedule beside static\n"
      "\n"
      "`bitcycle bench step --help` says what is measured.");
  add_bench_step(*bench, action);
  add_bench_schedule(*bench, action);
}

ScheduleSpec two_cycles(const BenchScheduleOptions& options) {
  ScheduleSpec spec = schedule_option(options.bits, options.schedule, 2);
  checked_schedule(option_names(options.bits), spec, 2 * options.cycle_steps);
  return spec;
}

}  // namespace bitcycle::cli
