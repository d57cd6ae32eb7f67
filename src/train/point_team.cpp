#include "train/point_team.h"

#include "bitcycle/base/thread_places.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <omp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace {

constexpr int kOutput = 3;  // the first descriptor behind the standard ones

bool write_all(const std::vector<double>& values) {
  const char* from = reinterpret_cast<const char*>(values.data());
  for (std::size_t left = values.size() * sizeof(double); left > 0;) {
    const ssize_t written = ::write(kOutput, from, left);
    if (written == -1 && errno != EINTR) return false;
    if (written > 0) from += written, left -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int from, std::vector<double>& values) {
  char* to = reinterpret_cast<char*>(values.data());
  for (std::size_t left = values.size() * sizeof(double); left > 0;) {
    const ssize_t count = ::read(from, to, left);
    if (count == 0 || (count == -1 && errno != EINTR)) return false;
    if (count > 0) to += count, left -= static_cast<std::size_t>(count);
  }
  return true;
}

struct Share {
  std::size_t first, end, step;
};

void leave_what_is_the_parents(int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died meanwhile
  std::signal(SIGPIPE, SIG_DFL);
  ::dup2(output, kOutput);
  ::close_range(kOutput + 1, ~0U, 0);
}

// Never returns: what the parent has open and has begun is its own to end.
[[noreturn]] void work(const Share& share, const PointTeam::Maker& make, int place) noexcept {
  try {
    omp_set_num_threads(1);
    take_place(place);
    for (std::size_t point = share.first; point < share.end; point += share.step) {
      if (!write_all(make(point))) break;
    }
    ::_exit(0);
  } catch (const std::exception&) {
    ::_exit(1);  // the parent makes the point itself, and meets what was in the way
  }
}

}  // namespace

// A forked process that writes the values of its points to a pipe; none where there is no room for
// it.
class PointWorker {
 public:
  PointWorker(const Share& share, const PointTeam::Maker& make, int place) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == -1) return;
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
      leave_what_is_the_parents(ends[1], parent);
      work(share, make, place);
    }
    ::close(ends[1]);
    input_ = ends[0];
  }
  ~PointWorker() { end(); }
  PointWorker(const PointWorker&) = delete;
  PointWorker& operator=(const PointWorker&) = delete;

  // Nothing once the process has ended.
  std::optional<PointTeam::Values> read(std::size_t count) {
    PointTeam::Values values(count);
    if (input_ != -1 && read_all(input_, values)) return values;
    end();
    return std::nullopt;
  }

 private:
  void end() {
    if (const int input = std::exchange(input_, -1); input != -1) ::close(input);
    const pid_t process = std::exchange(process_, -1);
    if (process == -1) return;
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) == -1 && errno == EINTR) {
    }
  }

  pid_t process_ = -1;
  int input_ = -1;
};

PointTeam::PointTeam(std::size_t first, std::size_t end, int processes, Maker make)
    : first_(first), next_(first), make_(std::move(make)) {
  const auto step = std::min(static_cast<std::size_t>(processes), end - std::min(first, end));
  for (std::size_t i = 1; i < step; ++i) {
    others_.push_back(
        std::make_unique<PointWorker>(Share{first + i, end, step}, make_, static_cast<int>(i)));
  }
}

PointTeam::~PointTeam() = default;

PointTeam::Values PointTeam::next() {
  const std::size_t point = next_++, member = (point - first_) % (others_.size() + 1);
  if (member > 0) {
    if (auto values = others_[member - 1]->read(count_)) return *values;
  }
  Values values = make_(point);
  count_ = values.size();
  return values;
}

}  // namespace bitcycle
