#include "bitcycle/base/stop_signal.h"

#include <csignal>

#include <unistd.h>

namespace bitcycle {
namespace {

volatile std::sig_atomic_t g_received = 0;

void handle(int signal) {
  if (g_received != 0) _exit(128 + signal);
  g_received = signal;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal() {
  g_received = 0;
  install(handle);
}

StopSignal::~StopSignal() {
  install(SIG_DFL);
}

int StopSignal::received() const {
  return g_received;
}

}  // namespace bitcycle
