#pragma once

// An HTTP server on 127.0.0.1 that serves one file, well or badly, to test downloads against.

#include "data/support.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace bitcycle::test {

struct ServerBehaviour {
  Bytes content;
  int status = 200;
  bool ranges = true;                      // answers a request for the rest with 206
  std::optional<std::size_t> cut_after;    // closes the connection after so many bytes
  std::optional<std::size_t> stall_after;  // sends no more after so many bytes
};

class LoopbackServer {
 public:
  explicit LoopbackServer(ServerBehaviour behaviour);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::string url() const;
  void behave(ServerBehaviour behaviour);
  // The first byte that each request asked for; 0 for the whole file.
  std::vector<std::size_t> requests() const;

 private:
  void serve();
  void answer(int connection);

  mutable std::mutex mutex_;
  ServerBehaviour behaviour_;
  std::vector<std::size_t> requests_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace bitcycle::test
