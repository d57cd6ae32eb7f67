// `bitcycle watch`: runs in the browser while they go on.

#include "bitcycle/report/narration.h"

#include "cli/command.h"
#include "cli/watch/watch_server.h"

#include <memory>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

std::string address_text(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host, port)
                                             : fmt::format("http://[{}]:{}/", host, port);
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("watch", "Look at runs in the browser while they go on");
  auto options = std::make_shared<WatchOptions>();
  command->add_option("folder", options->folder, "A run directory, or a folder of them")
      ->required();
  command->add_option("--port", options->port, "Port to listen at; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--host", options->host,
                   "Address to listen at; others than 127.0.0.1 let other machines look")
      ->capture_default_str();
  command->footer(
      "Prints the address to open, and serves until it is stopped (Ctrl-C). It reads the folder "
      "and "
      "changes nothing.\n\nExample:\n  bitcycle watch runs");
  command->callback([options, &action] {
    action = [options] {
      WatchServer server(*options);
      fmt::print("{}\n", address_text(options->host, server.port()));
      std::fflush(stdout);
      narrate("watching " + options->folder.string() + "; Ctrl-C ends it\n");
      server.serve();
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
