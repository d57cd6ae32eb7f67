#pragma once

// A file to which whole lines are appended, such as metrics.jsonl. A checkpoint stores offset(); a
// resumed run opens the log there, which cuts off the lines that it is about to write again, so
// that the file ends in the same bytes as that of a run which was never stopped.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace bitcycle {

class LineLog {
 public:
  // Opens or creates the file and cuts it off at `offset`. Throws Error(io), or Error(checkpoint)
  // when the file is shorter than that.
  explicit LineLog(const std::filesystem::path& path, std::uint64_t offset = 0);
  LineLog(LineLog&&) noexcept;
  LineLog& operator=(LineLog&&) noexcept;
  ~LineLog();

  // Adds the line and a newline. Throws Error(io).
  void append(std::string_view line);
  // Returns once everything appended stands on the disk; call it before a checkpoint is saved.
  void sync();
  std::uint64_t offset() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
