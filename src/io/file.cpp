#include "bitcycle/io/file.h"

#include "bitcycle/base/memory.h"

#include "io/descriptor.h"

#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// Unique among the writers of this machine, and beside the target so that rename stays atomic.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter = 0;
  return path.parent_path() /
         fmt::format(".{}.{}-{}.tmp", path.filename().string(), ::getpid(), counter++);
}

// Whether a name is one of temporary_beside's: a dot, a name, ".<digits>-<digits>.tmp".
bool is_temporary(std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  if (!name.starts_with('.') || !name.ends_with(kEnd)) return false;
  name.remove_suffix(kEnd.size());
  const std::string_view numbers = name.substr(name.rfind('.') + 1);
  const std::size_t dash = numbers.find('-');
  const bool digits = numbers.find_first_not_of("0123456789-") == numbers.npos;
  return digits && dash != 0 && dash != numbers.npos && dash == numbers.rfind('-') &&
         dash + 1 < numbers.size();
}

// Renaming would replace a device or a socket by a file, and cannot replace a directory.
void require_replaceable(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw io_error("write", path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorCode::io, "cannot write " + path.string() + ": it is not a regular file",
                "Name a file.");
  }
}

}  // namespace

std::vector<std::byte> read_file(const fs::path& path, ErrorCode code) {
  const Descriptor file(path, O_RDONLY, {"read", path, code});
  struct stat status = {};
  if (::fstat(file.fd(), &status) == -1) throw file.error();
  require_memory(static_cast<std::uint64_t>(status.st_size), path.string());
  // Pipes and /proc report size 0, so the size is a first guess and the end of file decides.
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t n = ::read(file.fd(), bytes.data() + used, bytes.size() - used);
    if (n == -1 && errno == EINTR) continue;
    if (n == -1) throw file.error();
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
  }
  bytes.resize(used);
  return bytes;
}

std::vector<std::byte> read_regular_file(const fs::path& path, ErrorCode code) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_other(status)) {
    throw Error(code, "cannot read " + path.string() + ": it is not a regular file",
                "Put a file in its place.");
  }
  return read_file(path, code);
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  require_replaceable(path);
  const fs::path temporary = temporary_beside(path);
  try {
    write_synced(temporary, bytes, path);
    if (::rename(temporary.c_str(), path.c_str()) == -1) throw io_error("write", path, errno);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
  sync_parent(path);
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

void remove_temporaries(const fs::path& directory) {
  for (const std::string& name : entries(directory)) {
    if (is_temporary(name)) remove_tree(directory / name);
  }
}

}  // namespace bitcycle
