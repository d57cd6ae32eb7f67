// `bitcycle schedule`: what a precision schedule looks like and what it costs, as a table with a
// plot for people, CSV or JSON for programs, SVG for documents.

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/format.h"
#include "bitcycle/report/narration.h"
#include "bitcycle/report/precision_text.h"
#include "bitcycle/report/svg_plot.h"
#include "bitcycle/report/table.h"
#include "bitcycle/report/text_plot.h"
#include "bitcycle/schedule/notices.h"
#include "bitcycle/schedule/spec.h"
#include "bitcycle/schedule/summary.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/recipe_files.h"
#include "cli/schedule/bits_view.h"
#include "cli/schedule/run_bits.h"
#include "cli/schedule/stage_outlook.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter = R"(
NAME may state its numbers, and several parts may follow one another:
  bitcycle schedule "CR 3:8 x4"
  bitcycle schedule "static 4 until 0.5, CR 4:8 x4"

Examples:
  bitcycle schedule                                            the names, with cost and a line each
  bitcycle schedule CR --min 3 --max 8 --cycles 8 --steps 64   a table with a plot
  bitcycle schedule RTH --csv > rth.csv                        t,value,bits of every step
  bitcycle schedule cosine --cycles 32 --steps 600600 --cycle-length floor
  bitcycle schedule static --max 6 --grad-bits "cosine 6:16 x32" --json
  bitcycle schedule LT --svg lt.svg
  bitcycle schedule demo-cpt                                   what a recipe plans
  bitcycle schedule mine.toml --set precision.forward.cycles=4
  bitcycle schedule --run runs/demo-cpt                        the bits that a run really had

relative_cost is the mean over the steps of (b^2 + 2 b g) / (B^2 + 2 B G): b forward and g backward
bits of a step, B and G their upper bounds; float counts as 32 bits.
docs/schedules.md has every schedule with its formula, picture and cost.)";

struct Options {
  ScheduleSpec spec{.name = ""};
  std::string run;
  std::optional<int> min, max;
  Step steps = 800;  // 8 cycles of 100: long enough for every profile to reach its upper bound
  Step steps_per_epoch = 1;
  std::string cycle_length = "exact";
  std::string grad_bits;
  bool csv = false;
  bool json = false;
  std::string svg;
  std::vector<std::string> settings;   // laid over a recipe
  std::vector<std::string> for_names;  // options that were given and mean something of a NAME alone
};

// The schedules of a run and what their costs are measured against.
struct Run {
  std::string title;
  Step steps;
  Schedule forward, backward;
  BitPair reference;
  std::vector<std::string> notices;

  double cost() const { return relative_cost(forward, backward, steps, reference); }
};

// Static has one width, so one bound is enough; the others default to the papers' 3 to 8.
void set_bounds(const Options& options, ScheduleSpec& spec) {
  const bool single = spec.name == "static";
  spec.max = options.max.value_or(single ? options.min.value_or(8) : 8);
  spec.min = options.min.value_or(single ? spec.max : 3);
}

// Cut into cycles as the forward schedule is; a range of its own must be stated.
ScheduleSpec backward_spec(const Options& options, const ScheduleSpec& forward) {
  ScheduleSpec backward = forward;
  backward.max = max_bits(forward);
  backward.min.reset();
  backward.name = !options.grad_bits.empty() ? options.grad_bits : std::to_string(backward.max);
  backward.start = 0;
  backward.end = 1;
  return backward;
}

std::vector<std::string> notices_of(const Options& options, const ScheduleSpec& forward,
                                    const ScheduleSpec& backward) {
  const Step total = epoch_count(options.steps, options.steps_per_epoch);
  const char* unit = options.steps_per_epoch == 1 ? "steps" : "epochs";
  std::vector<std::string> notices = schedule_notices(forward, total, unit);
  for (const std::string& notice : schedule_notices(backward, total, unit)) {
    notices.push_back("--grad-bits: " + notice);
  }
  return notices;
}

Run make_run(const Options& options) {
  if (options.steps < 1 || options.steps > kMostShownSteps) {
    throw Error(ErrorCode::usage, fmt::format("--steps must be at least 1 and at most {}, found {}",
                                              kMostShownSteps, options.steps));
  }
  ScheduleSpec forward = options.spec;
  forward.cycle_length = parse_cycle_length(options.cycle_length);
  set_bounds(options, forward);
  const ScheduleSpec backward = backward_spec(options, forward);
  const auto make = [&](const ScheduleSpec& spec) {
    return make_epoch_schedule(spec, options.steps, options.steps_per_epoch);
  };
  return {forward.name,
          options.steps,
          make(forward),
          make(backward),
          {max_bits(forward), max_bits(backward)},
          notices_of(options, forward, backward)};
}

// Every schedule over the same run, so that they can be compared.
std::vector<Run> all_runs(const Options& options) {
  std::vector<Run> runs;
  for (const std::string& name : schedule_names()) {
    Options named = options;
    named.spec.name = name;
    if (name == "static") named.min.reset();  // the baseline stands at the upper bound
    runs.push_back(make_run(named));
  }
  return runs;
}

void print_names(const Options& options) {
  Table table({"name", "mean bits", "cost", "what it does"});
  for (const Run& run : all_runs(options)) {
    table.add_row({run.title, fmt::format("{:.3f}", mean_bits(run.forward, run.steps)),
                   fmt::format("{:.4f}", run.cost()), std::string(describe_schedule(run.title))});
  }
  fmt::print(
      "{}\nCost is relative to static. `bitcycle schedule NAME` shows a schedule; "
      "`bitcycle schedule --help` has the options.\n",
      table.text());
}

void print_names_json(const Options& options) {
  auto names = nlohmann::ordered_json::array();
  for (const Run& run : all_runs(options)) {
    names.push_back({{"name", run.title},
                     {"about", describe_schedule(run.title)},
                     {"mean_bits", mean_bits(run.forward, run.steps)},
                     {"relative_cost", run.cost()}});
  }
  fmt::print("{}\n", json_text(names));
}

std::string level_table(const Run& run) {
  Table table({"bits", "first step", "steps", "share of time"});
  for (const Level& level : levels(run.forward, run.steps)) {
    table.add_row({bits_text(level.bits), std::to_string(level.first), std::to_string(level.steps),
                   share_text(static_cast<double>(level.steps), static_cast<double>(run.steps))});
  }
  return table.text();
}

// Eight cycles at most: more cannot be told apart in a terminal.
std::string plot(const Run& run, int cycles) {
  const Step shown = cycles <= 8 ? run.steps : std::max<Step>(1, run.steps / cycles * 8);
  std::vector<int> bits;
  for (Step t = 0; t < shown; ++t) bits.push_back(run.forward.bits(t));
  return text_plot(bits, {.charset = terminal_charset()}) +
         fmt::format("steps 0 to {} of {}\n", shown - 1, run.steps);
}

void print_table(const Run& run, int cycles) {
  const std::string_view about = describe_schedule(run.title);
  fmt::print("{}{}{}\n\n{}\n{}\n", run.title, about.empty() ? "" : ": ", about, plot(run, cycles),
             level_table(run));
  const double cost = run.cost();
  fmt::print(
      "mean {:.4g} bits, last step {}; cost {:.4f} of static {}/{} (forward/backward), "
      "saving {}\n",
      mean_bits(run.forward, run.steps), bits_text(run.forward.bits(run.steps - 1)), cost,
      bits_text(run.reference.forward), bits_text(run.reference.backward),
      percent_text(100 * (1 - cost)));
}

void print_csv(const Run& run) {
  std::string text = "t,value,bits\n";
  for (Step t = 0; t < run.steps; ++t) {
    text += fmt::format("{},{},{}\n", t, run.forward.value(t), run.forward.bits(t));
  }
  fmt::print("{}", text);
}

void print_json(const Run& run) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (Step t = 0; t < run.steps; ++t) {
    rows.push_back({{"t", t},
                    {"value", run.forward.value(t)},
                    {"bits", run.forward.bits(t)},
                    {"grad_bits", run.backward.bits(t)}});
  }
  const ordered_json json = {{"schedule", run.title},
                             {"steps", run.steps},
                             {"max_bits", run.reference.forward},
                             {"max_grad_bits", run.reference.backward},
                             {"mean_bits", mean_bits(run.forward, run.steps)},
                             {"mean_grad_bits", mean_bits(run.backward, run.steps)},
                             {"relative_cost", run.cost()},
                             {"rows", std::move(rows)}};
  fmt::print("{}\n", json_text(json));
}

void write_svg(const Run& run, const std::string& file) {
  Series value{"value", {}, LineStyle::line}, bits{"bits", {}, LineStyle::step},
      gradient{"gradient bits", {}, LineStyle::dashed};
  for (Step t = 0; t < run.steps; ++t) {
    value.values.push_back(run.forward.value(t));
    bits.values.push_back(run.forward.bits(t));
    gradient.values.push_back(run.backward.bits(t));
  }
  SvgPlot plot{run.title, "step", "bits", {bits}};
  if (value.values != bits.values) plot.series.push_back(value);
  const bool moves = levels(run.backward, run.steps).size() > 1;
  if (moves) plot.series.push_back(gradient);
  write_file(file, to_svg(plot));
  narrate(fmt::format("wrote {}\n", file));
}

void show(const Options& options) {
  const Run run = make_run(options);
  for (const std::string& notice : run.notices) fmt::print(stderr, "note: {}\n", notice);
  if (options.csv) return print_csv(run);
  if (options.json) return print_json(run);
  if (!options.svg.empty()) return write_svg(run, options.svg);
  print_table(run, options.spec.cycles);
}

void compare(const Options& options) {
  if (options.csv || !options.svg.empty()) {
    throw Error(ErrorCode::usage, "expected the NAME of a schedule, found none",
                "`bitcycle schedule` lists them.");
  }
  if (options.json) return print_names_json(options);
  print_names(options);
}

// What has bits of its own takes none from the command line.
void refuse_options(const std::string& subject, const Options& options) {
  if (options.for_names.empty()) return;
  throw Error(ErrorCode::usage,
              fmt::format("{} does not apply to {}, which says it itself",
                          options.for_names.front(), subject),
              "Leave it out, or give the NAME of a schedule.");
}

template <class View>
void show_bits(const View& view, const Options& options) {
  if (options.csv) return print_csv(view);
  if (options.json) return print_json(view);
  if (!options.svg.empty()) return write_svg(view, options.svg);
  print_text(view);
}

// Stages and choices are not known beforehand: what can be said of them is a table, and not a
// curve.
void show_recipe(const std::string& file, const Options& options) {
  const Recipe recipe = read_recipe(file, options.settings);
  const PrecisionRecipe& precision = recipe.precision;
  if (!is_closed_loop(precision)) {
    return show_bits(planned_bits(recipe, file, {options.steps, options.steps_per_epoch}), options);
  }
  if (options.csv || !options.svg.empty()) {
    throw Error(ErrorCode::usage,
                file +
                    (precision.dynamic       ? " has bits that gates choose"
                     : precision.progressive ? " has bits that follow the loss"
                                             : " has bits that a range test finds") +
                    ", so nobody knows them before it is trained",
                precision.dynamic
                    ? "Without --csv and --svg it is told what can be said."
                    : "Without --csv and --svg it is told what can be said; `bitcycle schedule "
                      "--run RUN` draws the bits that a run had.");
  }
  fmt::print("{}", options.json ? outlook_json(recipe)
                                : outlook_text(recipe, file + scheme_note(precision)));
}

int run_schedule(const Options& options) {
  if (!options.run.empty()) {
    refuse_options(options.run, options);
    const auto gates = run_choices(options.run);
    gates ? show_bits(*gates, options) : show_bits(run_bits(options.run), options);
    return 0;
  }
  const std::string& name = options.spec.name;
  if (!name.empty() && (name.ends_with(".toml") || find_recipe(name))) {
    refuse_options(name, options);
    show_recipe(require_recipe(name).string(), options);
    return 0;
  }
  if (!options.settings.empty()) {
    throw Error(ErrorCode::usage, "--set applies to recipes, and \"" + name + "\" is none",
                "`bitcycle recipes` lists those that ship.");
  }
  options.spec.name.empty() ? compare(options) : show(options);
  return 0;
}

}  // namespace

void add_schedule(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("schedule", "Show a precision schedule and what it costs");
  command->footer(kFooter);
  ScheduleSpec& spec = options->spec;
  CLI::Option* name = command->add_option(
      "NAME", spec.name,
      "The schedule, or a recipe (a file, or one of `bitcycle recipes`); without it all "
      "schedules are listed and compared");
  command
      ->add_option("--set", options->settings,
                   "Override a key of a recipe: --set precision.forward.cycles=4")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command->add_option("--run", options->run, "Show the bits that the run of this directory had")
      ->excludes(name);
  command->add_option("--min", options->min, "Lower bound in bits, 1 to 32 [3]");
  command->add_option("--max", options->max, "Upper bound in bits, 1 to 32; 0: float (static) [8]");
  command->add_option("--cycles", spec.cycles, "Cycles in the run; triangular: even ends high")
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Steps of the run")->capture_default_str();
  command
      ->add_option("--steps-per-epoch", options->steps_per_epoch,
                   "Advance only once in so many steps")
      ->capture_default_str();
  command->add_option("--beta", spec.beta, "REX: how long it stays low, 0 <= beta < 1")
      ->capture_default_str();
  command->add_option("--rate", spec.rate, "Exponential: how fast it rises, above 0")
      ->capture_default_str();
  command->add_option("--start", spec.start, "Fraction of the run that stays at min")
      ->capture_default_str();
  command->add_option("--end", spec.end, "Fraction of the run from which max is held")
      ->capture_default_str();
  command
      ->add_option("--cycle-length", options->cycle_length,
                   "How steps are cut into cycles: exact, floor (CPT) or floor_plus_one "
                   "(Better Schedules)")
      ->capture_default_str();
  command->add_option("--grad-bits", options->grad_bits,
                      "Backward bits: 8, 6:16 (CR), or a schedule such as \"LT 6:8 x4\" [max]");
  CLI::Option_group* output = command->add_option_group("Output", "a table with a plot, or one of");
  output->add_flag("--csv", options->csv, "t,value,bits of every step");
  output->add_flag("--json", options->json, "The same with mean bits and relative cost");
  output->add_option("--svg", options->svg, "A picture, written to this file");
  output->require_option(0, 1);
  command->callback([options, command, &action] {
    for (const char* name : {"--min", "--max", "--cycles", "--beta", "--rate", "--start", "--end",
                             "--cycle-length", "--grad-bits"}) {
      if (command->count(name) > 0) options->for_names.emplace_back(name);
    }
    action = [options] { return run_schedule(*options); };
  });
}

}  // namespace bitcycle::cli
