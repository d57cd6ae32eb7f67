// `bitcycle train`: trains a recipe in a run directory.

#include "cli/command.h"
#include "cli/run_directory_option.h"
#include "cli/torch_commands.h"

#include <memory>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter =
    "A recipe is a TOML file that describes one run; docs/recipes.md lists its keys.\n"
    "\n"
    "Examples:\n"
    "  bitcycle train demo-cpt                        one that ships (bitcycle recipes)\n"
    "  bitcycle train mine.toml --dry-run             what it would do and how long it would take\n"
    "  bitcycle train mine.toml --set epochs=3 --set optimizer.lr=0.05\n"
    "  bitcycle train runs/demo-cpt --resume          go on where a run stopped\n"
    "  bitcycle train mine.toml --resume --accept-changes    go on although mine.toml has changed\n"
    "\n"
    "Ctrl-C finishes the step or cuts the evaluation short, saves a checkpoint and exits with "
    "130;\n"
    "a second one exits at once.";

}  // namespace

void add_train(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("train", "Train a network from a recipe");
  auto options = std::make_shared<TrainOptions>();
  command
      ->add_option("recipe", options->recipe,
                   "Recipe file, the name of one that ships, or the directory of a run to resume")
      ->required();
  command->add_option("--set", options->settings, "Override a key: --set optimizer.lr=0.05")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  add_run_directory(*command, options->run_dir,
                    "Where the run's files go (default: runs/<recipe's name>)");
  command->add_flag("--resume", options->resume, "Continue from the newest checkpoint");
  command->add_flag("--accept-changes", options->accept_changes,
                    "Resume although the recipe or the data differ from the run's");
  command->add_flag("--dry-run", options->dry_run,
                    "Check everything, measure a few steps, tell, and write nothing");
  command->add_flag("-q,--quiet", options->quiet, "Print the result only");
  command->footer(kFooter);
  command->callback([options, &action] { action = [options] { return run_train(*options); }; });
}

}  // namespace bitcycle::cli
