#include "cli/directory_changes.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bitcycle {
namespace {

constexpr std::size_t kMaxCalls = 4096;

struct SharedCalls {
  std::atomic<int> count;
  std::array<const char*, kMaxCalls> names;  // literals: the same address after a fork
};

SharedCalls* shared() {
  static void* const memory = ::mmap(nullptr, sizeof(SharedCalls), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return static_cast<SharedCalls*>(memory);
}

char g_directory[4096] = "";
Interruption g_interruption;
std::atomic<int> g_count = 0;

bool below(const char* path) {
  const std::size_t length = std::strlen(g_directory);
  return length > 0 && std::strncmp(path, g_directory, length) == 0 &&
         (path[length] == '/' || path[length] == '\0');
}

bool below(int descriptor) {
  if (g_directory[0] == '\0') return false;
  char link[64], path[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t length = ::readlink(link, path, sizeof(path) - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return below(path);
}

// The tests name their directories by absolute paths, so a relative one counts by its directory.
bool below(int directory, const char* path) {
  return path[0] == '/' || directory == AT_FDCWD ? below(path) : below(directory);
}

bool may_create(int flags) {
  return (flags & (O_CREAT | O_TRUNC)) != 0;
}

bool due(Moment moment) {
  return g_interruption.call != 0 && g_count == g_interruption.call &&
         g_interruption.moment == moment;
}

// To be called first in every call that changes the directory.
void count(const char* name) {
  ++g_count;
  SharedCalls& calls = *shared();
  const int index = calls.count++;
  if (static_cast<std::size_t>(index) < kMaxCalls)
    calls.names[static_cast<std::size_t>(index)] = name;
  if (due(Moment::before)) ::raise(g_interruption.signal);
}

template <class Function>
Function* real(const char* name, Function*) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

void interrupt(const std::filesystem::path& directory, const Interruption& interruption) {
  g_interruption = interruption;
  g_count = 0;
  std::snprintf(g_directory, sizeof(g_directory), "%s", directory.c_str());
}

std::vector<std::string> changes() {
  const SharedCalls& calls = *shared();
  return {calls.names.begin(), calls.names.begin() + calls.count};
}

void forget_changes() {
  shared()->count = 0;
}

}  // namespace bitcycle

using bitcycle::below;
using bitcycle::count;
using bitcycle::due;
using bitcycle::may_create;
using bitcycle::Moment;
using bitcycle::real;

// The functions below have the names and types of the C library's, and so need no other comment.
extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = may_create(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (may_create(flags) && below(path)) count("open");
  return real("open", open)(path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = may_create(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (may_create(flags) && below(directory, path)) count("openat");
  return real("openat", openat)(directory, path, flags, mode);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto call = real("write", write);
  if (!below(descriptor)) return call(descriptor, data, size);
  count("write");
  if (!due(Moment::amid)) return call(descriptor, data, size);
  const ssize_t written = call(descriptor, data, size / 2);
  raise(bitcycle::g_interruption.signal);
  return written;
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  if (below(descriptor)) count("pwrite");
  return real("pwrite", pwrite)(descriptor, data, size, offset);
}

int fsync(int descriptor) {
  if (below(descriptor)) count("fsync");
  return real("fsync", fsync)(descriptor);
}

int fdatasync(int descriptor) {
  if (below(descriptor)) count("fdatasync");
  return real("fdatasync", fdatasync)(descriptor);
}

int ftruncate(int descriptor, off_t length) noexcept {
  if (below(descriptor)) count("ftruncate");
  return real("ftruncate", ftruncate)(descriptor, length);
}

int truncate(const char* path, off_t length) noexcept {
  if (below(path)) count("truncate");
  return real("truncate", truncate)(path, length);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (below(path)) count("mkdir");
  return real("mkdir", mkdir)(path, mode);
}

int rmdir(const char* path) noexcept {
  if (below(path)) count("rmdir");
  return real("rmdir", rmdir)(path);
}

int rename(const char* from, const char* to) noexcept {
  if (below(from) || below(to)) count("rename");
  return real("rename", rename)(from, to);
}

int link(const char* from, const char* to) noexcept {
  if (below(to)) count("link");
  return real("link", link)(from, to);
}

int symlink(const char* target, const char* path) noexcept {
  if (below(path)) count("symlink");
  return real("symlink", symlink)(target, path);
}

int unlink(const char* path) noexcept {
  if (below(path)) count("unlink");
  return real("unlink", unlink)(path);
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  if (below(directory, path)) count("unlinkat");
  return real("unlinkat", unlinkat)(directory, path, flags);
}

int remove(const char* path) noexcept {
  if (below(path)) count("remove");
  return real("remove", remove)(path);
}

}  // extern "C"
