#pragma once

// The control groups of this process, which is how containers and service managers limit what it
// may use. Both versions of the interface, also side by side. A group has what its parents leave
// it, so the limit that counts is the smallest on the way up.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// The directories from the process's own group up to where the hierarchy is mounted, of every
// hierarchy that has the controller ("cpu", "memory"). Empty where there is none, or /proc cannot
// be read. `root` stands for "/", so that tests can make up a machine.
std::vector<std::filesystem::path> cgroup_directories(const std::string& controller,
                                                      const std::filesystem::path& root);

// The first line of a small file; nothing when it cannot be read.
std::optional<std::string> first_line(const std::filesystem::path& file);

}  // namespace bitcycle
