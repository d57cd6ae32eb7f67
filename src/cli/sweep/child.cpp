#include "cli/sweep/child.h"

#include "bitcycle/base/error.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle::cli {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";
constexpr int kNotStarted = 127;

int open_or_throw(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (file != -1) return file;
  throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
}

// Everything that the child needs, made before the fork: after it nothing may be allocated.
struct Start {
  std::vector<char*> arguments, environment;
  int input, output;
  pid_t parent;
};

void default_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
}

[[noreturn]] void become(const Start& start) {
  ::setpgid(0, 0);
  default_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != start.parent) ::_exit(kNotStarted);  // it died meanwhile
  ::dup2(start.input, STDIN_FILENO);
  ::dup2(start.output, STDOUT_FILENO);
  ::dup2(start.output, STDERR_FILENO);
  ::execve(kThisProgram, start.arguments.data(), start.environment.data());
  ::_exit(kNotStarted);
}

std::vector<std::string> environment_with(int threads) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("OMP_NUM_THREADS=")) environment.push_back(text);
  }
  environment.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_status_of(int waited) {
  return WIFSIGNALED(waited) ? 128 + WTERMSIG(waited) : WEXITSTATUS(waited);
}

}  // namespace

Child::Child(const ChildOptions& options) {
  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.begin(), "bitcycle");
  std::vector<std::string> environment = environment_with(options.threads);
  const int output = open_or_throw(options.output, O_WRONLY | O_CREAT | O_TRUNC);
  const int input = open_or_throw("/dev/null", O_RDONLY);
  const Start start{pointers(arguments), pointers(environment), input, output, ::getpid()};
  process_ = ::fork();
  if (process_ == 0) become(start);
  const int failure = errno;
  ::close(input);
  ::close(output);
  if (process_ != -1) return;
  throw Error(ErrorCode::io, fmt::format("cannot start a process: {}", strerror(failure)));
}

Child::Child(Child&& other) noexcept
    : process_(std::exchange(other.process_, -1)), status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  if (process_ == -1 || status_) return;
  signal(SIGTERM);
  int waited = 0;
  while (::waitpid(process_, &waited, 0) == -1 && errno == EINTR) {
  }
}

std::optional<int> Child::status() {
  int waited = 0;
  if (!status_ && ::waitpid(process_, &waited, WNOHANG) == process_) {
    status_ = exit_status_of(waited);
  }
  return status_;
}

void Child::signal(int number) const {
  if (!status_) ::kill(process_, number);
}

}  // namespace bitcycle::cli
