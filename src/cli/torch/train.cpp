// `bitcycle train` itself, in the program that has LibTorch.

#include "bitcycle/base/error.h"
#include "bitcycle/config/notices.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/io/run_lock.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/trainer.h"

#include "cli/runs/run_paths.h"
#include "cli/runs/run_summary.h"
#include "cli/runs/terminal_sink.h"
#include "cli/torch/dry_run.h"
#include "cli/torch_commands.h"

#include <algorithm>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStopping =
    "stopping at the next step or batch, with a checkpoint; another signal stops at once, without "
    "one";

bool has_recipe(const fs::path& run) {
  return fs::exists(run / "recipe.toml");
}

bool has_checkpoint(const fs::path& run) {
  return CheckpointStore(run).latest().has_value();
}

// What the recipe of a run that is there already would change. One that never wrote a checkpoint
// has nothing to lose.
std::vector<std::string> changes_to(const fs::path& run, const Recipe& recipe) {
  if (!has_recipe(run) || !has_checkpoint(run)) return {};
  return differences(read_recipe(run / "recipe.toml"), recipe);
}

// A run that is there already is only touched when asked to. Returns what the recipe would change.
std::vector<std::string> check_existing_run(const TrainOptions& options, const fs::path& run,
                                            const Recipe& recipe) {
  const std::vector<std::string> changes = changes_to(run, recipe);
  if (!options.resume && has_checkpoint(run)) {
    throw Error(ErrorCode::usage, "\"" + run.string() + "\" already holds a run",
                "Add --resume to go on with it, or choose another place with --run-dir.");
  }
  if (options.accept_changes || changes.empty()) return changes;
  std::string list;
  for (const std::string& change : changes) list += "\n    " + change;
  throw Error(ErrorCode::usage,
              "the recipe differs from that of the run in \"" + run.string() + "\":" + list,
              "Add --accept-changes to go on with the new recipe all the same.");
}

// What was accepted, and what other batches mean for a run that is under way.
void tell_changes(const std::vector<std::string>& changes, const Trainer& trainer, LiveLine& line) {
  for (const std::string& change : changes) line.print("note: changed: " + change);
  const bool other_batches = std::ranges::any_of(changes, [](const std::string& change) {
    return change.starts_with("data.batch_size:") || change.starts_with("optimizer.accumulate:");
  });
  if (!other_batches) return;
  const Step per_epoch = trainer.length().steps_per_epoch;
  line.print(fmt::format(
      "note: an epoch has {} steps now, so that the {} steps done count as {:.2f} epochs; learning "
      "rate and bits go on by steps",
      per_epoch, trainer.step(),
      static_cast<double>(trainer.step()) / static_cast<double>(per_epoch)));
}

std::string stopped_text(const Trainer& trainer, const fs::path& run) {
  const bool trained = trainer.step() == trainer.total_steps();
  return fmt::format("stopped at step {} of {}{}; go on with: bitcycle train {} --resume",
                     trainer.step(), trainer.total_steps(),
                     trained ? ", in the final evaluations" : "", run.string());
}

void print_result(const fs::path& run) {
  const std::vector<RunSummary> runs = {read_run_summary(run)};
  fmt::print("{}{}{}{}", summary_table(runs), averaged_text(runs), stages_text(runs),
             counting_note(runs));
}

}  // namespace

int run_train(const TrainOptions& options) {
  use_caching_allocator();
  const TrainPaths paths = train_paths(options);
  const Recipe recipe = read_recipe(paths.recipe, options.settings);
  if (options.dry_run) return dry_run(recipe, paths);
  check_existing_run(options, paths.run_directory, recipe);  // before the data are read
  const StopSignal stop(kStopping);
  LiveLine line(stderr);
  const Narration narration = options.quiet ? Narration::warnings : Narration::all;
  Trainer trainer(recipe, paths.run_directory, {std::make_shared<TerminalSink>(line, narration)});
  const RunLock lock(paths.run_directory);  // makes the directory, so nothing may fail before it
  // This is the check that counts: another process may have begun or ended a run here meanwhile.
  const auto changes = check_existing_run(options, paths.run_directory, recipe);
  for (const std::string& warning : trainer.warnings()) line.print("warning: " + warning);
  const auto told = options.quiet ? target_notices(recipe) : notices(recipe, trainer.length());
  for (const std::string& notice : told) line.print("note: " + notice);
  if (!options.quiet) {
    for (const std::string& notice : trainer.notices()) line.print("note: " + notice);
  }
  const DataChanges data = options.accept_changes ? DataChanges::accept : DataChanges::refuse;
  const bool resumed = options.resume && trainer.resume(data);
  if (options.resume && !options.quiet) {
    line.print(resumed ? fmt::format("resuming {} at step {} of {}", paths.run_directory.string(),
                                     trainer.step(), trainer.total_steps())
                       : "there is no checkpoint to resume from; starting at step 0");
    if (resumed) tell_changes(changes, trainer, line);
  }
  const bool finished = trainer.step() == trainer.total_steps() && changes.empty();
  if (finished && fs::exists(paths.run_directory / "summary.json")) {
    print_result(paths.run_directory);
    return 0;
  }
  if (trainer.run(stop) == TrainOutcome::stopped) {
    line.print(stopped_text(trainer, paths.run_directory));
    return 128 + stop.received();
  }
  print_result(paths.run_directory);
  return 0;
}

}  // namespace bitcycle::cli
