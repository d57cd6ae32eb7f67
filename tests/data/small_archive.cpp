#include "data/small_archive.h"

#include "bitcycle/base/random.h"

#include <archive.h>
#include <archive_entry.h>

namespace bitcycle::test {

Bytes make_archive(const std::vector<ArchiveEntry>& entries) {
  std::size_t room = 1 << 16;
  for (const ArchiveEntry& entry : entries) room += entry.content.size() + 4096;
  Bytes bytes(room);
  std::size_t used = 0;
  archive* out = archive_write_new();
  archive_write_add_filter_gzip(out);
  archive_write_set_format_pax_restricted(out);
  archive_write_open_memory(out, bytes.data(), bytes.size(), &used);
  for (const ArchiveEntry& entry : entries) {
    archive_entry* head = archive_entry_new();
    archive_entry_set_pathname(head, entry.path.c_str());
    archive_entry_set_perm(head, 0644);
    archive_entry_set_filetype(head, entry.link_to.empty() ? AE_IFREG : AE_IFLNK);
    if (!entry.link_to.empty()) archive_entry_set_symlink(head, entry.link_to.c_str());
    archive_entry_set_size(head, static_cast<la_int64_t>(entry.content.size()));
    EXPECT_EQ(archive_write_header(out, head), ARCHIVE_OK) << archive_error_string(out);
    archive_write_data(out, entry.content.data(), entry.content.size());
    archive_entry_free(head);
  }
  EXPECT_EQ(archive_write_close(out), ARCHIVE_OK) << archive_error_string(out);
  archive_write_free(out);
  bytes.resize(used);
  return bytes;
}

std::vector<ArchiveEntry> small_cifar10(int records) {
  std::vector<ArchiveEntry> entries;
  for (const std::string name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                 "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    Bytes content(static_cast<std::size_t>(3073 * records));
    const RandomKey key = RandomKey(1).derive(name);
    for (std::size_t i = 0; i < content.size(); ++i) {
      content[i] = static_cast<std::byte>(i % 3073 == 0 ? key.below(i, 10) : key.below(i, 256));
    }
    entries.push_back({"cifar-10-batches-bin/" + name, std::move(content)});
  }
  entries.push_back({"cifar-10-batches-bin/readme.html", to_bytes({'h', 'i'})});
  return entries;
}

}  // namespace bitcycle::test
