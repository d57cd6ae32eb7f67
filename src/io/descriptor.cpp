#include "io/descriptor.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace bitcycle {
namespace {

std::string cure(int reason) {
  switch (reason) {
    case ENOSPC:
    case EDQUOT:
      return "Free some space there, or choose a place on another disk.";
    case EFBIG:
      return "Raise the limit on file sizes (ulimit -f), or choose another place.";
    case EACCES:
    case EPERM:
    case EROFS:
      return "Choose a place you have access to, or change its permissions.";
    case ENOENT:
      return "Check the path for a slip.";
    case ENOTDIR:
      return "A part of this path is a file, not a directory: choose another path.";
    case EISDIR:
      return "This is a directory: name a file in it.";
    default:
      return "";
  }
}

// Repeats a system call for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace

Error io_error(const std::string& action, const std::filesystem::path& path, int reason,
               ErrorCode code) {
  const std::string why = std::generic_category().message(reason);
  return Error(code, "cannot " + action + " " + path.string() + ": " + why, cure(reason));
}

Descriptor::Descriptor(const std::filesystem::path& path, int flags, Purpose purpose)
    : purpose_(std::move(purpose)) {
  fd_ = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd_ == -1) throw error();
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(purpose_, other.purpose_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ != -1) ::close(fd_);
}

Error Descriptor::error() const {
  return io_error(purpose_.action, purpose_.path, errno, purpose_.code);
}

void Descriptor::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = uninterrupted([&] { return ::write(fd_, bytes.data(), bytes.size()); });
    if (n == -1) throw error();
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void Descriptor::sync() {
  if (uninterrupted([&] { return ::fsync(fd_); }) == -1) throw error();
}

void Descriptor::close() {
  // Linux releases the descriptor even when close is interrupted, so this is not repeated.
  if (::close(std::exchange(fd_, -1)) == -1 && errno != EINTR) {
    throw error();
  }
}

void make_directories(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw io_error("create", directory, error.value());
}

std::vector<std::string> entries(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    names.push_back(entry.path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw io_error("read", directory, error.value());
  }
  return names;
}

void remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) throw io_error("remove", path, error.value());
}

void sync_directory(const std::filesystem::path& directory) {
  Descriptor(directory, O_RDONLY | O_DIRECTORY, {"write", directory}).sync();
}

void sync_parent(const std::filesystem::path& file) {
  sync_directory(file.has_parent_path() ? file.parent_path() : std::filesystem::path("."));
}

void write_synced(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  const std::filesystem::path& shown) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC, {"write", shown});
  file.write_all(bytes);
  file.sync();
  file.close();
}

}  // namespace bitcycle
