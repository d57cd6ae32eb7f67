#pragma once

// A file to which whole lines are appended, such as metrics.jsonl.

#include "bitcycle/io/append_file.h"

#include <string_view>

namespace bitcycle {

class LineLog {
 public:
  // Opens, cuts off and throws as AppendFile does.
  explicit LineLog(const std::filesystem::path& path, std::uint64_t offset = 0)
      : file_(path, offset) {}

  // Adds the line and a newline. Throws Error(io).
  void append(std::string_view line);
  void sync() { file_.sync(); }
  std::uint64_t offset() const { return file_.offset(); }

 private:
  AppendFile file_;
};

}  // namespace bitcycle
