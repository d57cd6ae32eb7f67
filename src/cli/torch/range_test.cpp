// `bitcycle range-test` itself, in the program that has LibTorch.

#include "bitcycle/config/range_policy.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/trainer.h"

#include "cli/cost/cost_recipe.h"
#include "cli/range/range_report.h"
#include "cli/range/range_subject.h"
#include "cli/runs/run_paths.h"
#include "cli/runs/terminal_sink.h"

#include <algorithm>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

// Remembers how far the test has come.
class LastStep : public EventSink {
 public:
  std::string name() const override { return "last_step"; }
  void step(const StepReport& report) override { last = report; }
  StepReport last;
};

// The policy of the run is made within the trainer; `made` is where it is.
RunParts parts_of(const Recipe& recipe, const RangePolicy*& made) {
  RunParts parts;
  parts.policy = [&recipe, &made](const PrecisionRecipe& precision, std::vector<LayerInfo> layers,
                                  RunLength length) {
    auto policy = std::make_unique<RangePolicy>(precision, layers, length,
                                                command_options(recipe, length.steps));
    made = policy.get();
    return policy;
  };
  return parts;
}

// What the recipe costs between the bounds that were found, in so many steps.
double training_gbitops(Recipe recipe, const RangePolicy& policy, Step steps) {
  const RangeTest& test = policy.test();
  recipe.precision.forward =
      schedule_between(*recipe.precision.range_test, test.lower(), test.upper());
  recipe.steps = steps;
  recipe.epochs = 0;
  return recipe_gbitops(recipe)->most;
}

RangeOutcome outcome_of(const Recipe& recipe, const RangePolicy& policy, const StepReport& last,
                        const Trainer& trainer) {
  constexpr double kGiga = 1e9;
  const bool accuracy = std::ranges::any_of(
      last.metrics, [](const Measured& measured) { return measured.metric.name == "accuracy"; });
  const Step steps = trainer.total_steps();
  RangeOutcome outcome{.recipe = recipe,
                       .backend = trainer.backend(),
                       .test = policy.test(),
                       .learned = policy.learned(),
                       .kind = accuracy ? Learned::Kind::accuracy : Learned::Kind::loss,
                       .gbitops = last.bitops / kGiga,
                       .run_gbitops = training_gbitops(recipe, policy, steps),
                       .paper_gbitops = training_gbitops(recipe, policy, kPaperSteps)};
  outcome.recipe.steps = steps;
  return outcome;
}

}  // namespace

int run_range_test(const RangeTestCommand& command) {
  use_caching_allocator();
  const Recipe recipe = range_test_recipe(command);
  const RangePolicy* policy = nullptr;
  const StopSignal stop("stopping at the next step");
  LiveLine line(stderr);
  Trainer trainer(recipe, train_paths({.recipe = command.recipe}).run_directory, {},
                  parts_of(recipe, policy));
  for (const std::string& warning : trainer.warnings()) line.print("warning: " + warning);
  const auto last = std::make_shared<LastStep>();
  const Narration narration = command.quiet ? Narration::warnings : Narration::all;
  const EventSinks sinks = {last, std::make_shared<TerminalSink>(line, narration)};
  const auto ended = [&] { return policy->test().ended(); };
  if (trainer.practise(stop, sinks, ended) == TrainOutcome::stopped) {
    line.print(fmt::format("stopped at step {}, before the test has ended", trainer.step()));
    return 128 + stop.received();
  }
  const RangeOutcome outcome = outcome_of(recipe, *policy, last->last, trainer);
  if (const std::string text = cost_warning(outcome); !text.empty()) line.print("warning: " + text);
  fmt::print("{}", command.json ? to_json(outcome) : to_text(outcome, terminal_charset()));
  return 0;
}

}  // namespace bitcycle::cli
