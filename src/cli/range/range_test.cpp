// `bitcycle range-test`: the bounds between which a recipe's forward bits should cycle.

#include "cli/command.h"
#include "cli/torch_commands.h"

#include <memory>

namespace bitcycle::cli {
namespace {

constexpr const char* kFooter =
    "Trains a recipe from its start, in blocks of steps at b bits that take turns with blocks at "
    "the\n"
    "upper width, and finds the lowest b that keeps enough of what the upper width has learned. "
    "That\n"
    "is the lower bound of a cyclic schedule. Nothing is written. A run that finds its bounds "
    "itself,\n"
    "in its first cycle, has precision.forward = \"auto\"; docs/schedules.md explains the test.\n"
    "\n"
    "Examples:\n"
    "  bitcycle range-test cifar10-resnet20-cpt --set steps=64000\n"
    "  bitcycle range-test mine.toml --from 3 --to 6\n"
    "  bitcycle range-test mine.toml --upper 0.95              the upper bound, too\n"
    "  bitcycle range-test mine.toml --set seed=2 --json       for scripts";

}  // namespace

void add_range_test(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("range-test", "Find the bounds of a recipe's forward bits");
  auto options = std::make_shared<RangeTestCommand>();
  command->add_option("recipe", options->recipe, "Recipe file, or the name of one that ships")
      ->required();
  command->add_option("--from", options->from, "The lowest width that is tried (default: 2)")
      ->check(CLI::Range(kMinBits, kMaxBits));
  command->add_option("--to", options->to, "The width that others are held against (default: 8)")
      ->check(CLI::Range(kMinBits + 1, kMaxBits));
  command
      ->add_option("--upper", options->upper,
                   "Find the upper bound too: the lowest width that keeps this share, such as 0.95")
      ->check(CLI::Range(0.01, 0.99))
      ->check(kFinite);
  command->add_option("--set", options->settings, "Override a key: --set steps=64000")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "Print the result only");
  command->footer(kFooter);
  command->callback(
      [options, &action] { action = [options] { return run_range_test(*options); }; });
}

}  // namespace bitcycle::cli
