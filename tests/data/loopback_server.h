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
  bool endless = false;  // says no length and sends zeros after the content, until hung up on
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
  // Bytes of content that clients have taken in all.
  std::size_t sent() const { return sent_; }

 private:
  void serve();
  void answer(int connection);
  void send_zeros(int connection);

  mutable std::mutex mutex_;
  ServerBehaviour behaviour_;
  std::vector<std::size_t> requests_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> sent_ = 0;
  std::thread thread_;
};

}  // namespace bitcycle::test
