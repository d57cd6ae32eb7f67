#include "bitcycle/report/live_line.h"

#include "bitcycle/report/narration.h"

#include "report/printable.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bitcycle {
namespace {

std::size_t terminal_width(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace

LiveLine::LiveLine(std::FILE* stream) : stream_(stream), live_(isatty(fileno(stream)) == 1) {}

LiveLine::~LiveLine() {
  clear();
}

void LiveLine::clear() {
  if (shown_) narrate("\r\033[K", stream_);
  shown_ = false;
}

std::size_t LiveLine::width() const {
  return terminal_width(stream_) - 1;
}

void LiveLine::update(const std::string& text) {
  if (!live_) return;
  clear();
  narrate(text.substr(0, width()), stream_);
  shown_ = true;
}

void LiveLine::print(const std::string& text) {
  clear();
  narrate(printable(text) + '\n', stream_);
}

std::string readable_duration(double seconds) {
  const auto total = static_cast<long long>(std::ceil(std::max(0.0, seconds)));
  if (total < 60) return fmt::format("{} s", total);
  if (total < 3600) return fmt::format("{} min {} s", total / 60, total % 60);
  return fmt::format("{} h {} min", total / 3600, total % 3600 / 60);
}

}  // namespace bitcycle
