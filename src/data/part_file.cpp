#include "data/part_file.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {

PartFile::PartFile(const std::filesystem::path& path)
    : path_(path), file_(path, O_WRONLY | O_CREAT | O_APPEND, {"write", path}) {
  if (::flock(file_.fd(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) throw file_.error();
  throw Error(ErrorCode::io, path_.string() + " is being written by another download",
              "Wait until it has ended.");
}

PartFile::~PartFile() {
  if (size() == 0) ::unlink(path_.c_str());
}

std::uint64_t PartFile::size() const {
  struct stat status = {};
  ::fstat(file_.fd(), &status);
  return static_cast<std::uint64_t>(status.st_size);
}

std::vector<std::byte> PartFile::content() const {
  return read_file(path_);
}

void PartFile::append(std::span<const std::byte> bytes) {
  file_.write_all(bytes);
}

void PartFile::clear() {
  if (::ftruncate(file_.fd(), 0) == -1) throw file_.error();
}

void PartFile::remove() {
  std::filesystem::remove(path_);
}

}  // namespace bitcycle
