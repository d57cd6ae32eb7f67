#pragma once

// Gets an official dataset from the net. The archive grows in a `.part` file that a later call
// resumes; its checksum is compared; its files are unpacked beside the final place and appear there
// by one rename. A download that is killed at any moment leaves either nothing that looks like the
// dataset, or all of it.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace bitcycle {

struct DownloadOptions {
  std::filesystem::path to = {};  // empty: download_place()
  std::string url = {};           // empty: the official address
  std::string md5 = {};           // of the archive; empty: the official one
  // Called from time to time; `total` is 0 while unknown.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

// Downloads and unpacks cifar10 or cifar100 and returns its directory; does nothing when a
// complete, undamaged one is there. Throws Error(network, data, io); for a dataset that cannot be
// downloaded, Error(data) with how to get it.
std::filesystem::path get_dataset(const std::string& name, const DownloadOptions& options = {});

}  // namespace bitcycle
