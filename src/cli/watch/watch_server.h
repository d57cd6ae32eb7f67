#pragma once

// The server of `bitcycle watch`: one page, and a stream of events for it. It reads a folder and
// writes nothing. What it answers is decided before anything is read:
//
// Note [Who may ask]: pages of other sites can make a browser send requests to loopback, and by a
// name that they point there (DNS rebinding) also read the answers. The Host that the browser
// names is then theirs, so requests with a Host that is not ours are refused. Ours are localhost
// and addresses as numbers, for which nobody can answer in our place.

#include "cli/watch/live_views.h"
#include "cli/watch/watched_folder.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

namespace bitcycle::cli {

struct WatchOptions {
  std::filesystem::path folder;
  std::string host = "127.0.0.1";
  int port = 6007;                          // 0: any that is free
  std::chrono::milliseconds interval{700};  // between two looks at the files
};

class WatchServer {
 public:
  // Throws Error(usage) when there is no such folder, Error(io) when the port cannot be had.
  explicit WatchServer(const WatchOptions& options);
  ~WatchServer();

  int port() const;
  // Serves until stop() is called.
  void serve();
  void stop();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Whether a request's Host header is one of ours, see Note [Who may ask].
bool is_own_host(const std::string& host_header);

}  // namespace bitcycle::cli
