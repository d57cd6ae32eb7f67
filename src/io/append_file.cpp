#include "bitcycle/io/append_file.h"

#include "io/descriptor.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace bitcycle {

struct AppendFile::Implementation {
  Descriptor file;
  std::uint64_t offset;
};

AppendFile::AppendFile(const std::filesystem::path& path, std::uint64_t offset) {
  // Without waiting for somebody to read from a pipe in the file's place.
  Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, {"write", path});
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

AppendFile::AppendFile(AppendFile&&) noexcept = default;
AppendFile& AppendFile::operator=(AppendFile&&) noexcept = default;
AppendFile::~AppendFile() = default;

void AppendFile::append(std::span<const std::byte> entry) {
  auto& [file, offset] = *implementation_;
  try {
    file.write_all(entry);
  } catch (const Error&) {
    // If this fails too, readers pass over the half at the end.
    [[maybe_unused]] const int ignored = ::ftruncate(file.fd(), static_cast<off_t>(offset));
    throw;
  }
  offset += entry.size();
}

void AppendFile::sync() {
  implementation_->file.sync();
}

std::uint64_t AppendFile::offset() const {
  return implementation_->offset;
}

}  // namespace bitcycle
