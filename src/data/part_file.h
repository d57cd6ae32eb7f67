#pragma once

// The part of a download that has arrived. Unless empty it stays when the program ends, to be
// resumed, and is locked while it is open, so that two downloads cannot write the same file.

#include "io/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bitcycle {

class PartFile {
 public:
  // Opens or creates. Throws Error(io), also when another process has it.
  explicit PartFile(const std::filesystem::path& path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  std::uint64_t size() const;
  std::vector<std::byte> content() const;
  void append(std::span<const std::byte> bytes);
  void clear();
  void remove();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace bitcycle
