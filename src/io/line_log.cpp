#include "bitcycle/io/line_log.h"

#include "io/descriptor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace bitcycle {

struct LineLog::Implementation {
  Descriptor file;
  std::uint64_t offset;
};

LineLog::LineLog(const std::filesystem::path& path, std::uint64_t offset) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND, {"write", path});
  const off_t size = ::lseek(file.fd(), 0, SEEK_END);
  if (size == -1) throw file.error();
  if (static_cast<std::uint64_t>(size) < offset) {
    throw Error(ErrorCode::checkpoint,
                fmt::format("{} has {} bytes, but the checkpoint expects at least {}",
                            path.string(), size, offset),
                "The file was changed after the run stopped: restore it, or start a new run.");
  }
  if (::ftruncate(file.fd(), static_cast<off_t>(offset)) == -1) throw file.error();
  sync_parent(path);
  implementation_ = std::make_unique<Implementation>(Implementation{std::move(file), offset});
}

LineLog::LineLog(LineLog&&) noexcept = default;
LineLog& LineLog::operator=(LineLog&&) noexcept = default;
LineLog::~LineLog() = default;

void LineLog::append(std::string_view line) {
  // One write a line: a reader that follows the file, or a kill, sees no half of it.
  const std::string text = std::string(line) + '\n';
  implementation_->file.write_all(std::as_bytes(std::span(text)));
  implementation_->offset += text.size();
}

void LineLog::sync() {
  implementation_->file.sync();
}

std::uint64_t LineLog::offset() const {
  return implementation_->offset;
}

}  // namespace bitcycle
