#pragma once

// A file descriptor that closes itself, and the few system calls that crash-safe writing needs,
// each of which retries when interrupted and turns a refusal into Error(io) with the path, the
// system's reason and a cure. Private to io: everybody else reads and writes whole files.

#include "bitcycle/base/error.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bitcycle {

// "cannot <action> <path>: <reason>" with a hint that fits the errno value `reason`.
Error io_error(const std::string& action, const std::filesystem::path& path, int reason,
               ErrorCode code = ErrorCode::io);

// What error messages say of an open file. `path` may differ from the name that was opened: a user
// knows the file's name, not that of the temporary one which will be renamed to it.
struct Purpose {
  std::string action;  // "read", "write"
  std::filesystem::path path;
  ErrorCode code = ErrorCode::io;
};

class Descriptor {
 public:
  // Opens with open(2)'s flags.
  Descriptor(const std::filesystem::path& path, int flags, Purpose purpose);
  Descriptor(Descriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), purpose_(std::move(other.purpose_)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int fd() const { return fd_; }
  // The error of a system call on this file that has just failed.
  Error error() const;

  void write_all(std::span<const std::byte> bytes);
  // Returns once the content stands on the disk.
  void sync();
  // Closes now; some file systems report a failed write only here.
  void close();

 private:
  int fd_ = -1;
  Purpose purpose_;
};

// Creates a directory and its parents where they are missing. Throws Error(io).
void make_directories(const std::filesystem::path& directory);

// Names of the entries of a directory; none when there is no such directory. Throws Error(io).
std::vector<std::string> entries(const std::filesystem::path& directory);

// Removes a file or a directory with all that is in it; does nothing when there is none. Throws
// Error(io).
void remove_tree(const std::filesystem::path& path);

// Makes created, renamed and removed names in a directory durable.
void sync_directory(const std::filesystem::path& directory);
void sync_parent(const std::filesystem::path& file);

// Writes and syncs a file that nobody reads yet. Errors call it `shown`.
void write_synced(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  const std::filesystem::path& shown);

}  // namespace bitcycle
