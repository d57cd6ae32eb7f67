#pragma once

// The part of a download that has arrived. Unless empty it stays when the program ends, to be
// resumed, and is locked while it is open, so that two downloads cannot write the same file.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bitcycle {

class PartFile {
 public:
  // Opens or creates. Throws Error(io), also when another process has it.
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  std::vector<std::byte> content() const;
  void append(std::span<const std::byte> bytes);
  void clear();
  void remove();

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace bitcycle
