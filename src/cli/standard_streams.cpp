#include "cli/standard_streams.h"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace bitcycle::cli {
namespace {

// open() takes the lowest free number, which is this one as long as those below it are open.
void hold(int descriptor, int flags) {
  if (::fcntl(descriptor, F_GETFD) != -1) return;
  if (::open("/dev/null", flags) != descriptor) std::_Exit(1);  // and no stream to say it on
}

}  // namespace

void hold_standard_streams() {
  hold(STDIN_FILENO, O_WRONLY);
  hold(STDOUT_FILENO, O_RDONLY);
  hold(STDERR_FILENO, O_RDWR);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace bitcycle::cli
