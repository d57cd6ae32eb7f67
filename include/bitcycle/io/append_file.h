#pragma once

// A file that grows by whole entries, such as the lines of a log or the records of an event file. A
// checkpoint stores offset(); a resumed run opens the file there, which cuts off the entries that
// it is about to write again, so that the file ends in the same bytes as that of a run which was
// never stopped.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace bitcycle {

class AppendFile {
 public:
  // Opens or creates the file and cuts it off at `offset`. Throws Error(io), or Error(checkpoint)
  // when the file is shorter than that.
  explicit AppendFile(const std::filesystem::path& path, std::uint64_t offset = 0);
  AppendFile(AppendFile&&) noexcept;
  AppendFile& operator=(AppendFile&&) noexcept;
  ~AppendFile();

  // Adds the entry by one write, so that a reader that follows the file, or a kill, sees no half of
  // it. Throws Error(io); a half that a full disk took is cut off again.
  void append(std::span<const std::byte> entry);
  // Returns once everything appended stands on the disk; call it before a checkpoint is saved.
  void sync();
  std::uint64_t offset() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
