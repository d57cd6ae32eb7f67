// `bitcycle compare`: finished runs side by side.

#include "cli/command.h"
#include "cli/run_summary.h"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

std::string savings_note(const std::vector<RunSummary>& runs) {
  const bool gated = std::ranges::any_of(runs, &RunSummary::gated);
  return fmt::format(
      "Cost saved: against static at the same upper bits{}. Time saved: measured, against the last "
      "run.\n",
      gated ? ", of runs with gates static 8/8" : "");
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> runs;
    bool json = false;
  };
  auto* command = app.add_subcommand("compare", "Accuracy, cost and time of finished runs");
  auto options = std::make_shared<Options>();
  command->add_option("runs", options->runs, "Run directories")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  bitcycle compare runs/demo-cpt runs/demo-static");
  command->callback([options, &action] {
    action = [options] {
      std::vector<RunSummary> runs;
      for (const std::string& run : options->runs) runs.push_back(read_run_summary(run));
      fmt::print("{}", options->json ? summary_json(runs) : summary_table(runs));
      if (!options->json)
        fmt::print("{}{}{}", stages_text(runs), counting_note(runs), savings_note(runs));
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
