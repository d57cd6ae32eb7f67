#pragma once

// The machine that a run was measured on, in the words of its kernel.

#include <filesystem>
#include <string>

namespace bitcycle {

// The processor's name ("AMD EPYC 9554 64-Core Processor"); empty where the kernel tells none.
// `root` stands for "/".
std::string processor_name(const std::filesystem::path& root = "/");

}  // namespace bitcycle
