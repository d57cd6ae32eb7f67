#include "bitcycle/io/run_lock.h"

#include "bitcycle/io/file.h"

#include "io/descriptor.h"

#include <cerrno>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

namespace bitcycle {
namespace {

// The process named in the lock file, for the message alone: the kernel's lock is what counts.
std::string holder(const std::filesystem::path& path) {
  const auto bytes = read_regular_file(path);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string process = text.substr(0, text.find('\n'));
  return process.empty() ? "another process" : "process " + process;
}

}  // namespace

// A lock file is emptied at the end, so that it is the same in every run that was not killed.
struct RunLock::Implementation {
  explicit Implementation(Descriptor locked) : file(std::move(locked)) {}
  ~Implementation() {
    // Failing to empty it leaves a number that nobody asks for.
    [[maybe_unused]] const int ignored = ::ftruncate(file.fd(), 0);
  }
  Descriptor file;
};

RunLock::RunLock(const std::filesystem::path& run_directory) {
  make_directories(run_directory);
  const std::filesystem::path path = run_directory / ".lock";
  Descriptor file(path, O_WRONLY | O_CREAT | O_NONBLOCK, {"lock", path});
  if (::flock(file.fd(), LOCK_EX | LOCK_NB) == -1) {
    if (errno != EWOULDBLOCK) throw file.error();
    throw Error(ErrorCode::usage,
                fmt::format("{} is in use: {} trains there", run_directory.string(), holder(path)),
                "Wait for it to end, or choose another run directory.");
  }
  if (::ftruncate(file.fd(), 0) == -1) throw file.error();
  const std::string process = std::to_string(::getpid()) + '\n';
  file.write_all(std::as_bytes(std::span(process)));
  implementation_ = std::make_unique<Implementation>(std::move(file));
}

RunLock::RunLock(RunLock&&) noexcept = default;
RunLock& RunLock::operator=(RunLock&&) noexcept = default;
RunLock::~RunLock() = default;

// A killed process leaves its number; what counts is whether it lives. That of another user may not
// be signalled (EPERM), and lives all the same.
bool is_in_use(const std::filesystem::path& run_directory) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(run_directory / ".lock", ignored)) return false;
  std::ifstream file(run_directory / ".lock");
  pid_t process = 0;
  if (!(file >> process) || process <= 0) return false;
  return ::kill(process, 0) == 0 || errno == EPERM;
}

}  // namespace bitcycle
