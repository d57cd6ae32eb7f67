#include "data/part_file.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {
namespace {

Error refused(const std::string& action, const std::filesystem::path& path) {
  const std::string why = std::generic_category().message(errno);
  return Error(ErrorCode::io, "cannot " + action + " " + path.string() + ": " + why,
               "Free some space there, or choose another place with --to.");
}

}  // namespace

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ == -1) throw refused("write", path_);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  throw Error(ErrorCode::io, path_.string() + " is being written by another download",
              "Wait until it has ended.");
}

PartFile::~PartFile() {
  if (size() == 0) ::unlink(path_.c_str());
  ::close(descriptor_);
}

std::uint64_t PartFile::size() const {
  struct stat status = {};
  ::fstat(descriptor_, &status);
  return static_cast<std::uint64_t>(status.st_size);
}

std::vector<std::byte> PartFile::content() const {
  return read_file(path_);
}

void PartFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written == -1 && errno == EINTR) continue;
    if (written == -1) throw refused("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartFile::clear() {
  if (::ftruncate(descriptor_, 0) == -1) throw refused("empty", path_);
}

void PartFile::remove() {
  std::filesystem::remove(path_);
}

}  // namespace bitcycle
