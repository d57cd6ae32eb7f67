// `bitcycle report`: runs as one HTML page to look at and to pass on.

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"
#include "bitcycle/report/html_report.h"

#include "cli/command.h"
#include "cli/runs/find_runs.h"
#include "cli/runs/run_paths.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPageBeginning = "<!doctype html>";

// A run by its name, those of a folder by their paths within it.
std::string name_within(const fs::path& folder, const fs::path& run, bool only_folder) {
  if (run == folder) return run_name(run);
  const fs::path within = run.lexically_relative(folder);
  return (only_folder ? within : fs::path(run_name(folder)) / within).string();
}

std::vector<NamedRun> named_runs(const std::vector<std::string>& folders) {
  std::vector<NamedRun> runs;
  for (const fs::path folder : folders) {
    const std::vector<fs::path> found = find_directories(folder, holds_run);
    if (found.empty()) throw no_run_in(folder);
    for (const fs::path& run : found) {
      runs.push_back({name_within(folder, run, folders.size() == 1), run});
    }
  }
  return runs;
}

// A page may be written anew; any other file was hardly meant.
void require_no_other_file(const fs::path& output) {
  std::error_code ignored;
  if (!fs::is_regular_file(output, ignored)) return;
  std::ifstream file(output, std::ios::binary);
  std::string beginning(kPageBeginning.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  if (file.gcount() == 0 || beginning == kPageBeginning) return;
  throw Error(ErrorCode::usage, "\"" + output.string() + "\" is there already, and no page",
              "Choose another name with -o, or remove the file.");
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> runs;
    std::string output = "report.html";
    bool json = false;
  };
  auto* command = app.add_subcommand("report", "Write runs as an HTML page");
  auto options = std::make_shared<Options>();
  command
      ->add_option("runs", options->runs,
                   "Run directories, finished or not, or folders and sweeps of them")
      ->required();
  command->add_option("-o,--output", options->output, "File to write")->capture_default_str();
  command->add_flag("--json", options->json, "Print the page's data as JSON instead");
  command->footer(
      "The page needs no network and no other files. Several runs are overlaid, with a table and\n"
      "the front of score against cost.\n"
      "\n"
      "Examples:\n"
      "  bitcycle report runs/demo-cpt runs/demo-static -o demo.html\n"
      "  bitcycle report runs/cpt-or-static          a sweep, or any folder of runs");
  command->callback([options, &action] {
    action = [options] {
      const std::vector<NamedRun> runs = named_runs(options->runs);
      if (options->json) {
        fmt::print("{}\n", report_data(runs));
        return 0;
      }
      require_no_other_file(options->output);
      write_file(options->output, html_report(runs));
      fmt::print("{}\n", options->output);
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
