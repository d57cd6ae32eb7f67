// `bitcycle cost`: what training a network under a precision schedule costs, against the same
// training at the schedule's upper bounds.

#include "bitcycle/base/error.h"
#include "bitcycle/cost/energy.h"
#include "bitcycle/cost/latency.h"
#include "bitcycle/cost/run_cost.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/table.h"
#include "bitcycle/schedule/spec.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/cost/cost_recipe.h"
#include "cli/cost/cost_run.h"
#include "cli/cost/cost_subject.h"
#include "cli/recipe_files.h"
#include "cli/runs/run_paths.h"
#include "cli/schedule/schedule_option.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Examples:\n"
    "  bitcycle cost cifar_resnet74 --bits 3:8 --grad-bits 8     a model, by CPT's schedule\n"
    "  bitcycle cost resnet18 --bits 8 --image-size 96 --per-layer\n"
    "  bitcycle cost demo-cpt                                    what a recipe will cost\n"
    "  bitcycle cost mine.toml --set precision.forward.min=4     and what otherwise\n"
    "  bitcycle cost runs/demo-cpt                               what a run has cost\n"
    "\n"
    "docs/cost.md says what is counted.";

// The bits are those of CPT's training on CIFAR.
struct CostOptions {
  CostSubjectOptions subject;
  std::string bits = "3:8";
  std::string grad_bits = "8";
  std::string schedule = "CR";
  std::string cycle_length = "exact";
  int cycles = 32;
  std::optional<Step> steps;          // the model's usual ones, unless given
  std::optional<std::int64_t> batch;  // likewise
  std::string counting = "paper";
  bool per_layer = false;
  bool json = false;
  std::vector<std::string>
      for_models;  // options that were given and mean something of a model alone
};

constexpr Step kMaxSteps = 100'000'000;  // a few seconds of counting
constexpr std::int64_t kMaxBatch = 1'000'000'000;

struct Cost {
  RunCost run;
  MeanBits mean;
  double modelled_hours = 0;
  Energy energy;  // modelled
  double normalised_macs = 0;
};

struct Report {
  CostSubject subject;
  Step steps;
  std::int64_t batch;
  CostModel model;
  std::string forward, backward;  // the schedules
  LayerBits upper;                // their upper bounds
  Cost scheduled, fixed;          // fixed: static at the upper bounds
};

double giga(double operations) {
  return operations / 1e9;
}

ScheduleSpec parse_schedule(const CostOptions& options, const std::string& bits) {
  ScheduleSpec spec = schedule_option(bits, options.schedule, options.cycles);
  spec.cycle_length = parse_cycle_length(options.cycle_length);
  return spec;
}

Cost cost_of(const std::vector<LayerInfo>& layers, const CostModel& model,
             const std::vector<BitsUse>& uses, std::int64_t batch) {
  const MeanBits mean = mean_bits(uses);
  double steps = 0;
  for (const BitsUse& use : uses) steps += static_cast<double>(use.steps);
  Cost cost{run_cost(model, uses, batch), mean,
            modelled_hours_zc706(model.macs(), steps * static_cast<double>(batch), mean)};
  const CostModel macs(layers, Counting::macs);
  const EnergyModel energy(layers);
  for (const BitsUse& use : uses) {
    const auto used = static_cast<double>(use.steps);
    cost.energy += energy.step(use.bits, batch) * used;
    cost.normalised_macs +=
        normalised_macs(macs.sample_cost(use.bits).total()) * used * static_cast<double>(batch);
  }
  return cost;
}

Report make_report(const CostOptions& options) {
  const CostSubject subject = cost_subject(options.subject);
  const CostModel model(subject.layers, counting_by_name(options.counting));
  const Step steps = options.steps.value_or(subject.usual.steps);
  const std::int64_t batch = options.batch.value_or(subject.usual.batch);
  const ScheduleSpec forward = parse_schedule(options, options.bits);
  const ScheduleSpec backward = parse_schedule(options, options.grad_bits);
  const auto scheduled = bits_used(checked_schedule(option_names(options.bits), forward, steps),
                                   checked_schedule("--grad-bits", backward, steps), steps);
  const LayerBits upper = layer_bits(max_bits(forward), max_bits(backward));
  return {subject,
          steps,
          batch,
          model,
          forward.name,
          backward.name,
          upper,
          cost_of(subject.layers, model, scheduled, batch),
          cost_of(subject.layers, model, {{upper, steps}}, batch)};
}

Json to_json(const PassCost& cost) {
  return {{"forward", giga(cost.forward)},
          {"error", giga(cost.error)},
          {"weight_gradient", giga(cost.weight_gradient)}};
}

Json to_json(const Energy& energy) {
  const auto passes = [](const PassCost& joules) {
    return Json{{"forward", joules.forward},
                {"error", joules.error},
                {"weight_gradient", joules.weight_gradient}};
  };
  return {{"total", energy.total()},
          {"operations", passes(energy.operations)},
          {"memory", passes(energy.memory)}};
}

// What is the model's usual, because nobody said otherwise.
std::vector<std::string> assumed(const CostOptions& options) {
  std::vector<std::string> names;
  if (!options.steps) names.emplace_back("steps");
  if (!options.batch) names.emplace_back("batch");
  return names;
}

std::string assumed_text(const CostOptions& options, const UsualRun& usual) {
  const std::vector<std::string> names = assumed(options);
  if (names.empty()) return "";
  return fmt::format(" (assumed: {}; --{} otherwise)", usual.basis, fmt::join(names, ", --"));
}

Json layers_json(const Report& report) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < report.model.layers().size(); ++i) {
    const CountedLayer& layer = report.model.layers()[i];
    const PassCost& cost = report.scheduled.run.layers[i];
    layers.push_back({{"name", layer.name},
                      {"macs", layer.macs},
                      {"ops", layer.ops()},
                      {"gbitops", giga(cost.total())},
                      {"gbitops_static", giga(report.fixed.run.layers[i].total())},
                      {"gbitops_by_pass", to_json(cost)}});
  }
  return layers;
}

Json to_json(const Report& report, const CostOptions& options) {
  Json json = {{"model", report.subject.name}};
  json.update(report.subject.shape_json);
  json.update(Json{{"params", report.subject.parameters},
                   {"macs", report.model.macs()},
                   {"counting", name(report.model.counting())},
                   {"ops", report.model.ops()},
                   {"bits", report.forward},
                   {"grad_bits", report.backward},
                   {"static_bits", report.upper.weight},
                   {"static_grad_bits", report.upper.error},
                   {"cycle_length", options.cycle_length},
                   {"steps", report.steps},
                   {"batch", report.batch},
                   {"mean_bits", report.scheduled.mean.weight},
                   {"mean_grad_bits", report.scheduled.mean.error},
                   {"gbitops", giga(report.scheduled.run.total.total())},
                   {"gbitops_static", giga(report.fixed.run.total.total())},
                   {"saving_percent", saving_percent(report.scheduled.run.total.total(),
                                                     report.fixed.run.total.total())},
                   {"gbitops_by_pass", to_json(report.scheduled.run.total)},
                   {"gbitops_static_by_pass", to_json(report.fixed.run.total)},
                   {"modelled_hours_zc706", report.scheduled.modelled_hours},
                   {"modelled_hours_zc706_static", report.fixed.modelled_hours},
                   {"normalised_macs", report.scheduled.normalised_macs},
                   {"normalised_macs_static", report.fixed.normalised_macs},
                   {"modelled_joules", to_json(report.scheduled.energy)},
                   {"modelled_joules_static", to_json(report.fixed.energy)}});
  json["assumed"] = assumed(options);
  if (options.per_layer) json["layers"] = layers_json(report);
  return json;
}

std::string gbitops_text(double operations) {
  return amount_text(giga(operations));
}

void print_summary(const Report& report, const CostOptions& options) {
  const CostSubject& subject = report.subject;
  fmt::print("{}, {}: {} parameters, {} MACs a {}\n", subject.name, subject.shape,
             subject.parameters, report.model.macs(), subject.unit);
  fmt::print("bits: forward {} (mean {:.2f}), backward {} (mean {:.2f})\n", report.forward,
             report.scheduled.mean.weight, report.backward, report.scheduled.mean.error);
  fmt::print("run: {} steps of {} {}s{}\n", report.steps, report.batch, subject.unit,
             assumed_text(options, subject.usual));
  const Counting counting = report.model.counting();
  fmt::print("counting rule: {} ({}): {} ops a {}\n\n", name(counting), summary(counting),
             report.model.ops(), subject.unit);
}

void print_passes(const Report& report) {
  Table table({"pass", "GBitOPs", "static " + to_text(report.upper), "saving"});
  const auto add = [&](const char* pass, auto member) {
    const double cost = std::invoke(member, report.scheduled.run.total);
    const double reference = std::invoke(member, report.fixed.run.total);
    table.add_row({pass, gbitops_text(cost), gbitops_text(reference),
                   percent_text(saving_percent(cost, reference))});
  };
  add("forward", &PassCost::forward);
  add("error", &PassCost::error);
  add("weight gradient", &PassCost::weight_gradient);
  add("total", &PassCost::total);
  fmt::print("{}\n", table.text());
}

void print_energy(const Report& report) {
  Table table({"modelled energy, kJ", "operations", "memory", "total", "static", "saving"});
  const Energy &energy = report.scheduled.energy, &fixed = report.fixed.energy;
  const auto kilo = [](double joules) { return amount_text(joules / 1e3); };
  const auto add = [&](const char* pass, auto member) {
    const double total = std::invoke(member, energy.passes());
    const double reference = std::invoke(member, fixed.passes());
    table.add_row({pass, kilo(std::invoke(member, energy.operations)),
                   kilo(std::invoke(member, energy.memory)), kilo(total), kilo(reference),
                   percent_text(saving_percent(total, reference))});
  };
  add("forward", &PassCost::forward);
  add("error", &PassCost::error);
  add("weight gradient", &PassCost::weight_gradient);
  add("total", &PassCost::total);
  fmt::print("{}\n", table.text());
}

void print_layers(const Report& report) {
  Table table({"layer", "MACs", "ops", "forward", "error", "weight gradient", "GBitOPs", "share"});
  const double total = report.scheduled.run.total.total();
  for (std::size_t i = 0; i < report.model.layers().size(); ++i) {
    const CountedLayer& layer = report.model.layers()[i];
    const PassCost& cost = report.scheduled.run.layers[i];
    table.add_row({layer.name, std::to_string(layer.macs), std::to_string(layer.ops()),
                   gbitops_text(cost.forward), gbitops_text(cost.error),
                   gbitops_text(cost.weight_gradient), gbitops_text(cost.total()),
                   share_text(cost.total(), total)});
  }
  fmt::print("{}\n", table.text());
}

// A recipe and a run say for themselves which network, bits and steps they have.
bool told_by_path(const CostOptions& options) {
  const std::string& subject = options.subject.model;
  const bool run = names_run(subject);
  if (!run && !subject.ends_with(".toml") && !find_recipe(subject)) return false;
  if (!options.for_models.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{} does not apply to {}, which says it itself",
                            options.for_models.front(), subject),
                "Leave it out, or give the name of a model.");
  }
  if (run && !options.subject.settings.empty()) {
    throw Error(ErrorCode::usage, "--set does not apply to " + subject + ", which has been trained",
                "Give its recipe: --set says what it would cost otherwise.");
  }
  const RecipeCostOptions told{.path = run ? subject : require_recipe(subject).string(),
                               .settings = options.subject.settings,
                               .steps = options.steps.value_or(UsualRun().steps),
                               .counting = counting_by_name(options.counting),
                               .json = options.json};
  run ? print_run_cost(told) : print_recipe_cost(told);
  return true;
}

int run_cost_command(const CostOptions& options) {
  if (told_by_path(options)) return 0;
  const Report report = make_report(options);
  if (options.json) {
    fmt::print("{}\n", json_text(to_json(report, options), 2));
    return 0;
  }
  print_summary(report, options);
  if (options.per_layer) print_layers(report);
  print_passes(report);
  print_energy(report);
  fmt::print("FracTrain's normalised MACs: {}, static {}\n",
             amount_text(report.scheduled.normalised_macs),
             amount_text(report.fixed.normalised_macs));
  fmt::print(
      "modelled time on a ZC706 accelerator: {:.1f} h, static {:.1f} h "
      "(fitted to published figures, not measured)\n",
      report.scheduled.modelled_hours, report.fixed.modelled_hours);
  return 0;
}

}  // namespace

void add_cost(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CostOptions>();
  CLI::App* command = app.add_subcommand("cost", "What training a network costs in bit operations");
  const auto option = [&](const char* name, auto& value, const char* help) {
    return command->add_option(name, value, help)->capture_default_str();
  };
  option("model", options->subject.model,
         "A model of `bitcycle models`, a recipe (a file, or one of `bitcycle recipes`), or the "
         "directory of a run")
      ->required();
  option("--bits", options->bits,
         "Forward bits: 3:8, or 8 or fp for static, or a schedule such as \"CR 3:8 x4\"");
  option("--grad-bits", options->grad_bits, "Backward bits, likewise");
  option("--schedule", options->schedule, "How bits move in a range (`bitcycle schedule`)");
  option("--cycles", options->cycles, "Cycles of the run");
  option("--cycle-length", options->cycle_length, "exact, floor (CPT) or floor_plus_one");
  option("--steps", options->steps,
         "Training steps, default 64000 (53120 of lstm_lm, 20000 of transformer_lm); of a recipe, "
         "where it gives epochs")
      ->check(CLI::Range(Step{1}, kMaxSteps));
  option("--batch", options->batch,
         "Samples a step, default 128; of language models, tokens, default 20 windows (lstm_lm) or "
         "4")
      ->check(CLI::Range(std::int64_t{1}, kMaxBatch));
  option("--classes", options->subject.classes, "Default: 10 for cifar_*, 1000 else");
  option("--image-size", options->subject.image_size, "Default: 32 for cifar_*, 224 else");
  option("--channels", options->subject.channels, "Channels of the images, default 3");
  option("--vocabulary", options->subject.vocabulary,
         "Words of a language model, default 10000 of lstm_lm, 33278 of transformer_lm")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 24));
  command
      ->add_option(
          "--set", options->subject.settings,
          "Override a key of a recipe, or give a size of a language model: model.hidden=200")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  option("--counting", options->counting, "Counting rule: paper, macs or bitcycle");
  command->add_flag("--per-layer", options->per_layer, "Also the cost of every layer");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kFooter);
  command->callback([options, command, &action] {
    for (const char* name :
         {"--bits", "--grad-bits", "--schedule", "--cycles", "--cycle-length", "--batch",
          "--classes", "--image-size", "--channels", "--vocabulary", "--per-layer"}) {
      if (command->count(name) > 0) options->for_models.emplace_back(name);
    }
    action = [options] { return run_cost_command(*options); };
  });
}

}  // namespace bitcycle::cli
