#pragma once

// SIGINT and SIGTERM as a wish to stop: who works finishes its step, saves and leaves. A second
// signal ends the process at once.

namespace bitcycle {

// Installs the handlers for its lifetime.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The signal that arrived, or 0.
  int received() const;
};

}  // namespace bitcycle
