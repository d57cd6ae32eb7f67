#include "bitcycle/data/download.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/data/catalog.h"
#include "bitcycle/data/locate.h"
#include "bitcycle/io/file.h"

#include "data/archive.h"
#include "data/known_datasets.h"
#include "data/transfer.h"

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// A directory that is there for the time of unpacking. Its name is fixed, so that what a killed
// process left is cleared away by the next; the locked part file keeps others out.
class UnpackDirectory {
 public:
  explicit UnpackDirectory(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~UnpackDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  UnpackDirectory(const UnpackDirectory&) = delete;
  UnpackDirectory& operator=(const UnpackDirectory&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const KnownDataset& require_known(const std::string& name) {
  if (const KnownDataset* known = known_dataset(name)) return *known;
  std::vector<std::string> names;
  for (const KnownDataset& known : known_datasets()) names.push_back(known.name);
  throw Error(ErrorCode::usage, fmt::format("there is no dataset \"{}\" to get", name),
              suggest(name, names));
}

bool intact(const std::string& name, const fs::path& directory) {
  try {
    check_dataset(name, directory);
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::memory) throw;  // says nothing of the files
    return false;
  }
}

// An archive of somebody's own may be of any size, up to what is read into memory without regret.
constexpr std::uint64_t kLongestArchive = std::uint64_t{1} << 30;

struct ExpectedArchive {
  Source source;
  std::string md5;
};

ExpectedArchive expected_archive(const KnownDataset& known, const DownloadOptions& options) {
  const std::string& url = options.url.empty() ? known.url : options.url;
  if (options.md5.empty()) return {{url, known.archive_size}, known.archive_md5};
  if (const auto sum = parse_md5(options.md5)) return {{url, kLongestArchive}, *sum};
  throw Error(ErrorCode::usage,
              fmt::format("--md5: expected 32 hexadecimal digits, found \"{}\"", options.md5),
              "md5sum(1) prints them.");
}

// The archive with the expected sum. A resumed one that does not match is fetched once more from
// its beginning: the part may have been of another version, or damaged.
std::vector<std::byte> complete_archive(const ExpectedArchive& expected, PartFile& part,
                                        const Progress& progress) {
  while (true) {
    if (part.size() > expected.source.longest) part.clear();
    const bool resumed = part.size() > 0;
    std::vector<std::byte> bytes = part.content();
    if (resumed && md5(bytes) == expected.md5) return bytes;
    fetch(expected.source, part, progress);
    bytes = part.content();
    const std::string found = md5(bytes);
    if (found == expected.md5) return bytes;
    part.clear();
    if (resumed) continue;
    throw Error(ErrorCode::network,
                fmt::format("{} is not the expected archive: expected MD5 {}, found {} ({} bytes)",
                            expected.source.url, expected.md5, found, bytes.size()),
                "Try again later, or name another source with --url.");
  }
}

// Writes the archive's files and their sums.
void unpack_into(const fs::path& to, std::span<const std::byte> archive,
                 const std::string& directory, const std::string& origin) {
  std::string sums;
  unpack(archive, directory, origin,
         [&](const std::string& name, std::span<const std::byte> content) {
           write_file(to / name, content);
           sums += fmt::format("{}  {}\n", md5(content), name);
         });
  write_file(to / kChecksumFile, sums);
}

void set_aside(const fs::path& directory) {
  if (!fs::exists(directory)) return;
  const fs::path old = directory.string() + ".old";
  if (fs::exists(old)) {
    throw Error(ErrorCode::data,
                fmt::format("{} is damaged, and {} is in the way of setting it aside",
                            directory.string(), old.string()),
                "Remove what you do not need of the two.");
  }
  fs::rename(directory, old);
}

fs::path get(const KnownDataset& known, const DownloadOptions& options) {
  const fs::path place = options.to.empty() ? download_place() : options.to;
  const std::string& directory = known.directories.front();
  const fs::path target = place / directory;
  const ExpectedArchive expected = expected_archive(known, options);
  if (fs::exists(target) && intact(known.name, target)) return target;
  fs::create_directories(place);
  PartFile part(place / (directory + ".tar.gz.part"));
  const std::vector<std::byte> archive = complete_archive(expected, part, options.progress);
  const UnpackDirectory unpacked(place / ("." + directory + ".unpacking"));
  unpack_into(unpacked.path(), archive, directory, expected.source.url);
  check_dataset(known.name, unpacked.path());
  set_aside(target);
  fs::rename(unpacked.path(), target);
  part.remove();
  return target;
}

}  // namespace

fs::path get_dataset(const std::string& name, const DownloadOptions& options) {
  const KnownDataset& known = require_known(name);
  if (known.url.empty()) {
    const FoundDataset found = find_dataset(name, options.to);
    if (found.complete()) return found.directory;
    throw Error(ErrorCode::data, fmt::format("{} is not downloaded by Bitcycle", name), known.cure);
  }
  try {
    return get(known, options);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, error.what(), "Choose another place with --to.");
  }
}

}  // namespace bitcycle
