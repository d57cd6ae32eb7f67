#pragma once

// SIGINT and SIGTERM as a wish to stop: who works finishes its step, saves and leaves. A second
// one, a third of a second later or more, ends the process at once.

namespace bitcycle {

// Thrown where work is cut short because a signal has arrived.
struct Stopped {};

// Installs the handlers for its lifetime.
class StopSignal {
 public:
  // The moment a signal arrives, `answer` goes to stderr on a line of its own, unless it is null.
  // It must live as long as the process.
  explicit StopSignal(const char* answer = nullptr);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The signal that arrived, or 0.
  int received() const;
  // Throws Stopped once a signal has arrived.
  void check() const;
};

}  // namespace bitcycle
