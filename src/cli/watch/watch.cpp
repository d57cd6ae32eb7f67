// `bitcycle watch`: runs in the browser while they go on.

#include "bitcycle/base/stop_signal.h"
#include "bitcycle/report/narration.h"

#include "cli/command.h"
#include "cli/watch/watch_server.h"

#include <chrono>
#include <memory>
#include <thread>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(50);

std::string address_text(const std::string& host, int port) {
  return host.find(':') == std::string::npos ? fmt::format("http://{}:{}/", host, port)
                                             : fmt::format("http://[{}]:{}/", host, port);
}

// Ends serving once a signal has come, also where a shell's "&" made the process deaf to Ctrl-C.
int serve_until_stopped(WatchServer& server) {
  const StopSignal stop;
  // Again and again, since a server that does not serve yet cannot be stopped.
  const std::jthread listener([&](const std::stop_token& served) {
    while (!served.stop_requested()) {
      if (stop.received() != 0) server.stop();
      std::this_thread::sleep_for(kPatience);
    }
  });
  server.serve();
  return 128 + stop.received();
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
      "Prints the address to open, and serves until it is stopped (Ctrl-C; kill, where it runs in\n"
      "the background). It reads the folder and changes nothing.\n\nExample:\n  bitcycle watch "
      "runs");
  command->callback([options, &action] {
    action = [options] {
      WatchServer server(*options);
      fmt::print("{}\n", address_text(options->host, server.port()));
      std::fflush(stdout);
      narrate("watching " + options->folder.string() + "; Ctrl-C ends it\n");
      return serve_until_stopped(server);
    };
  });
}

}  // namespace bitcycle::cli
