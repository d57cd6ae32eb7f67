#include "data/archive.h"

#include "data/damage.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace bitcycle {
namespace {

// A sparse entry of a few bytes can claim to be as long as it likes.
constexpr std::size_t kLongestFile = std::size_t{1} << 28;
constexpr std::size_t kChunk = std::size_t{1} << 20;

struct Reader {
  std::unique_ptr<archive, decltype(&archive_read_free)> handle{archive_read_new(),
                                                                archive_read_free};
  const std::string& origin;

  // Damage is anything but success; libarchive's warnings are about names and attributes.
  void require(la_ssize_t result) const {
    if (result >= ARCHIVE_WARN) return;
    const char* message = archive_error_string(handle.get());
    throw damaged(origin, "a compressed tar archive",
                  fmt::format("\"{}\"", message != nullptr ? message : "unknown error"));
  }
};

// The bare name of an entry that lies directly in `directory`; else empty.
std::string name_within(archive_entry* entry, const std::string& directory) {
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG) return "";
  const auto path = std::filesystem::path(name).lexically_normal();
  return path.parent_path() == directory ? path.filename().string() : "";
}

std::vector<std::byte> content(const Reader& reader) {
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t before = bytes.size();
    if (before > kLongestFile) {
      throw damaged(reader.origin, fmt::format("files of at most {} bytes", kLongestFile),
                    "a longer one");
    }
    bytes.resize(before + kChunk);
    const la_ssize_t count = archive_read_data(reader.handle.get(), bytes.data() + before, kChunk);
    reader.require(count);
    bytes.resize(before + static_cast<std::size_t>(std::max<la_ssize_t>(count, 0)));
    if (count <= 0) return bytes;
  }
}

}  // namespace

void unpack(std::span<const std::byte> bytes, const std::string& directory,
            const std::string& origin, const FileSink& sink) {
  const Reader reader{.origin = origin};
  archive* handle = reader.handle.get();
  reader.require(archive_read_support_filter_gzip(handle));
  reader.require(archive_read_support_format_tar(handle));
  reader.require(archive_read_open_memory(handle, bytes.data(), bytes.size()));
  archive_entry* entry = nullptr;
  for (int status = ARCHIVE_OK;
       (status = archive_read_next_header(handle, &entry)) != ARCHIVE_EOF;) {
    reader.require(status);
    const std::string name = name_within(entry, directory);
    if (!name.empty()) sink(name, content(reader));
  }
}

}  // namespace bitcycle
