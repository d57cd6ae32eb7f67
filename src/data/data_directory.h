#pragma once

// The files of a dataset, read and checked. A file may lie there plain or gzipped (name.gz). What
// it must contain is decided by the directory's own MD5SUMS when there is one, else by the known
// sizes and sums of the official files. So a flipped bit is found, and somebody's own data in the
// same format can be used and is checked as well: `md5sum *.bin > MD5SUMS`.

#include "data/checksum.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// An official file, expanded. An empty sum means that the publisher gives none for this file.
struct KnownFile {
  std::string name;
  std::uint64_t size = 0;
  std::string md5;
};

inline constexpr const char* kChecksumFile = "MD5SUMS";

// The path of directory/name or directory/name.gz, whichever exists; else empty.
std::filesystem::path existing_file(const std::filesystem::path& directory,
                                    const std::string& name);

class DataDirectory {
 public:
  struct File {
    std::string origin;  // for messages
    std::vector<std::byte> bytes;
  };

  // `cure` says how to get the dataset. Reads MD5SUMS if it is there.
  DataDirectory(std::filesystem::path path, std::vector<KnownFile> known, std::string cure);

  // Throws Error(data) when the file is missing or is not what it must be.
  File read(const std::string& name) const;
  const std::filesystem::path& path() const { return path_; }
  // Whether the directory's own MD5SUMS names the file.
  bool lists(const std::string& name) const { return listed_ && listed_->contains(name); }

 private:
  const KnownFile* known_file(const std::string& name) const;
  std::vector<std::byte> expanded(const std::string& name, const File& file) const;
  void check_listed(const std::filesystem::path& file, std::span<const std::byte> bytes) const;
  void check_size(const std::string& name, const std::string& origin, std::uint64_t size) const;
  void check_known(const std::string& name, const File& file) const;
  std::string official_hint() const;

  std::filesystem::path path_;
  std::vector<KnownFile> known_;
  std::string cure_;
  std::optional<Checksums> listed_;
};

}  // namespace bitcycle
