#include "bitcycle/base/stop_signal.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <unistd.h>

namespace bitcycle {
namespace {

// One wish to stop may arrive as several signals: `timeout` sends its own to the process and then
// to its group, and a terminal's goes to a parent too, which passes it on.
constexpr std::int64_t kSameWish = 300;  // ms

volatile std::sig_atomic_t g_received = 0;
std::atomic<std::int64_t> g_received_at = 0;
const char* volatile g_answer = nullptr;

// By write alone, as a handler must.
void say(const char* text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

// A terminal may show a line of progress, and "^C" behind it.
void answer(const char* text) {
  const int before = errno;
  if (isatty(STDERR_FILENO) == 1) say("\n");
  say(text);
  say("\n");
  errno = before;
}

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void handle(int signal) {
  if (g_received != 0) {
    if (milliseconds() - g_received_at >= kSameWish) _exit(128 + signal);
    return;
  }
  g_received_at = milliseconds();
  g_received = signal;
  if (g_answer != nullptr) answer(g_answer);
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal(const char* answer) {
  g_received = 0;
  g_answer = answer;
  install(handle);
}

StopSignal::~StopSignal() {
  install(SIG_DFL);
}

int StopSignal::received() const {
  return g_received;
}

void StopSignal::check() const {
  if (g_received != 0) throw Stopped();
}

}  // namespace bitcycle
