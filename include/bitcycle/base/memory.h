#pragma once

// Running out of memory, said in words. Where a size is known before the memory is taken it is
// compared with what there is: Linux hands out more than it has, and later kills without a word.

#include <cstdint>
#include <filesystem>
#include <string>

namespace bitcycle {

// Bytes that could still be taken: what the system has available and can swap, but no more than
// the process's control groups and its own limit (ulimit -v) leave. The largest number where
// nothing can be found out. `root` stands for "/".
std::uint64_t available_memory(const std::filesystem::path& root = "/");

// Throws Error(memory) when `bytes` for `what` ("a batch of 512 pictures") are more than there are.
void require_memory(std::uint64_t bytes, const std::string& what, const std::string& hint = "");

// "1.50 GB"; powers of ten.
std::string readable_size(std::uint64_t bytes);

}  // namespace bitcycle
