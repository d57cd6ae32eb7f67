// `bitcycle report`: runs as one HTML page to look at and to pass on.

#include "bitcycle/io/file.h"
#include "bitcycle/report/html_report.h"

#include "cli/command.h"
#include "cli/run_paths.h"

#include <filesystem>
#include <memory>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

// "runs/demo-cpt/" and "." have a name too.
std::string name_of(const fs::path& run) {
  const fs::path whole = fs::absolute(run).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<NamedRun> named_runs(const std::vector<std::string>& directories) {
  std::vector<NamedRun> runs;
  for (const std::string& directory : directories) {
    run_recipe(directory);
    runs.push_back({name_of(directory), directory});
  }
  return runs;
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
  command->add_option("runs", options->runs, "Run directories, finished or not")->required();
  command->add_option("-o,--output", options->output, "File to write")->capture_default_str();
  command->add_flag("--json", options->json, "Print the page's data as JSON instead");
  command->footer(
      "The page needs no network and no other files. Several runs are overlaid, with a table and\n"
      "the front of score against cost.\n"
      "\n"
      "Example:\n"
      "  bitcycle report runs/demo-cpt runs/demo-static -o demo.html");
  command->callback([options, &action] {
    action = [options] {
      const std::vector<NamedRun> runs = named_runs(options->runs);
      if (options->json) {
        fmt::print("{}\n", report_data(runs));
        return 0;
      }
      write_file(options->output, html_report(runs));
      fmt::print("{}\n", options->output);
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
