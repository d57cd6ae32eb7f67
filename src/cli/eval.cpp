// `bitcycle eval`: a trained run's accuracy at each of several widths.

#include "cli/command.h"
#include "cli/torch_commands.h"

#include <memory>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter =
    "Layers to which the recipe gives bits of their own keep them; \"fp\" is float everywhere.\n"
    "Of a run with precision.dynamic, evaluation without --bits also prints what the gates chose, "
    "by\n"
    "block, and the score with each option in place of their choice.\n"
    "\n"
    "Examples:\n"
    "  bitcycle eval runs/demo-cpt\n"
    "  bitcycle eval runs/demo-cpt --bits 3,4,6,8,fp";

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("eval", "Accuracy of a run at chosen bit-widths");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("run", options->run, "Run directory")->required();
  command->add_option("--bits", options->bits,
                      "Widths, separated by commas, e.g. 3,4,6,8,fp; default: evaluation.bits");
  command
      ->add_option("--split", options->split,
                   "Which samples to score; those of train without augmentation")
      ->check(CLI::IsMember({"test", "validation", "train"}))
      ->capture_default_str();
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "best, last, averaged, or the number of a step")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_eval(*options); }; });
}

}  // namespace bitcycle::cli
