// `bitcycle predict`: what a trained network sees in pictures.

#include "cli/command.h"
#include "cli/torch_commands.h"

#include <memory>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter =
    "Pictures are JPEG or PNG files, or folders of them; they go through what evaluation does to\n"
    "pictures. Each is asked about on its own, so its answer does not depend on the others. One "
    "that\n"
    "cannot be read is named and skipped, and the exit status is then 3.\n"
    "\n"
    "Examples:\n"
    "  bitcycle predict runs/own-pictures cat.jpg\n"
    "  bitcycle predict runs/own-pictures new-pictures --top 1 --json";

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("predict", "What a trained run sees in pictures");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("run", options->run, "Run directory")->required();
  command->add_option("pictures", options->pictures, "Pictures, or folders of them")->required();
  command->add_option("--bits", options->bits, "A width, e.g. 4 or fp; default: evaluation.bits");
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "best, last, averaged, or the number of a step")
      ->capture_default_str();
  command->add_option("--top", options->top, "How many classes to name, the most probable first")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_predict(*options); }; });
}

}  // namespace bitcycle::cli
