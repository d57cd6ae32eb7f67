#include "data/data_directory.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/io/file.h"

#include "data/gzip.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

std::optional<Checksums> read_checksums(const fs::path& directory) {
  const fs::path file = directory / kChecksumFile;
  std::error_code ignored;  // who goes on to list the directory is told what is wrong with it
  if (!fs::exists(file, ignored)) return std::nullopt;
  const std::vector<std::byte> bytes = read_file(file, ErrorCode::data);
  return parse_checksums({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         file.string());
}

void require_sum(const std::string& origin, std::span<const std::byte> bytes,
                 const std::string& expected, const std::string& source, const std::string& hint) {
  const std::string found = md5(bytes);
  if (found == expected) return;
  throw Error(
      ErrorCode::data,
      fmt::format("{} is damaged: expected MD5 {} ({}), found {}", origin, expected, source, found),
      hint);
}

}  // namespace

fs::path existing_file(const fs::path& directory, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    std::error_code ignored;
    if (fs::is_regular_file(directory / candidate, ignored)) return directory / candidate;
  }
  return {};
}

DataDirectory::DataDirectory(fs::path path, std::vector<KnownFile> known, std::string cure)
    : path_(std::move(path)),
      known_(std::move(known)),
      cure_(std::move(cure)),
      listed_(read_checksums(path_)) {}

DataDirectory::File DataDirectory::read(const std::string& name) const {
  const fs::path path = existing_file(path_, name);
  if (path.empty()) {
    throw Error(ErrorCode::data, fmt::format("{} is missing", (path_ / name).string()), cure_);
  }
  const bool zipped = path.extension() == ".gz";
  if (!listed_ && !zipped) check_size(name, path.string(), fs::file_size(path));
  File file{path.string(), read_file(path, ErrorCode::data)};
  if (listed_) check_listed(path, file.bytes);
  if (zipped) file.bytes = expanded(name, file);
  if (!listed_) check_known(name, file);
  return file;
}

const KnownFile* DataDirectory::known_file(const std::string& name) const {
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const KnownFile& k) { return k.name == name; });
  return known == known_.end() ? nullptr : &*known;
}

// Somebody's own file is as large as it says.
std::vector<std::byte> DataDirectory::expanded(const std::string& name, const File& file) const {
  const KnownFile* known = listed_ ? nullptr : known_file(name);
  if (known == nullptr) return gunzip(file.bytes, file.origin);
  require_memory(known->size, "the content of " + file.origin);
  return gunzip(file.bytes, file.origin, known->size);
}

void DataDirectory::check_listed(const fs::path& file, std::span<const std::byte> bytes) const {
  const fs::path sums = path_ / kChecksumFile;
  const auto entry = listed_->find(file.lexically_relative(path_).generic_string());
  if (entry == listed_->end()) {
    throw Error(ErrorCode::data,
                fmt::format("{} is not listed in {}", file.string(), sums.string()),
                "Add its line with md5sum(1), or remove MD5SUMS if the data is the official one.");
  }
  require_sum(file.string(), bytes, entry->second, sums.string(),
              "Get the file again, or renew MD5SUMS if you changed the data on purpose.");
}

void DataDirectory::check_known(const std::string& name, const File& file) const {
  check_size(name, file.origin, file.bytes.size());
  const KnownFile* known = known_file(name);
  if (known == nullptr || known->md5.empty()) return;
  require_sum(file.origin, file.bytes, known->md5, "the official file", official_hint());
}

void DataDirectory::check_size(const std::string& name, const std::string& origin,
                               std::uint64_t size) const {
  const KnownFile* known = known_file(name);
  if (known == nullptr || size == known->size) return;
  throw Error(ErrorCode::data,
              fmt::format("{} is damaged: expected {} bytes (the official file), found {}", origin,
                          known->size, size),
              official_hint());
}

std::string DataDirectory::official_hint() const {
  return cure_ + " If this is your own data in the same format, say so with: cd " + path_.string() +
         " && md5sum * > MD5SUMS";
}

}  // namespace bitcycle
