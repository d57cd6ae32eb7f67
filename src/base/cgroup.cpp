#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// A hierarchy of groups. Version 2 has one, whose list of controllers is empty here: they are
// switched on group by group.
struct Hierarchy {
  std::string controllers;
  fs::path path;
};

bool lists(const std::string& names, const std::string& wanted) {
  return ("," + names + ",").find("," + wanted + ",") != std::string::npos;
}

bool serves(const std::string& controllers, const std::string& wanted) {
  return controllers.empty() || lists(controllers, wanted);
}

// Lines of /proc/self/cgroup are "number:controllers:path".
std::vector<Hierarchy> own_groups(const fs::path& root) {
  std::vector<Hierarchy> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    groups.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return groups;
}

struct Mount {
  std::string controllers;
  fs::path group;  // what of the hierarchy is mounted: in a container often its own group
  fs::path place;
};

// Lines of /proc/self/mountinfo are "id parent device root place options... - type source options".
std::vector<Mount> mounts(const fs::path& root) {
  std::vector<Mount> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string skipped, group, place, type, options;
    left >> skipped >> skipped >> skipped >> group >> place;
    right >> type >> skipped >> options;
    if (type == "cgroup2") found.push_back({"", group, place});
    if (type == "cgroup") found.push_back({options, group, place});
  }
  return found;
}

// Where the group stands below the mount; the mount itself when it lies outside.
fs::path below_mount(const fs::path& group, const fs::path& mounted) {
  const fs::path relative = group.lexically_relative(mounted);
  const bool outside = relative.empty() || *relative.begin() == ".." || relative == ".";
  return outside ? fs::path() : relative;
}

void add_upwards(const fs::path& mount, fs::path below, std::vector<fs::path>& directories) {
  for (; !below.empty(); below = below.parent_path()) directories.push_back(mount / below);
  directories.push_back(mount);
}

}  // namespace

std::vector<fs::path> cgroup_directories(const std::string& controller, const fs::path& root) {
  std::vector<fs::path> directories;
  const std::vector<Hierarchy> groups = own_groups(root);
  for (const Mount& mount : mounts(root)) {
    if (!serves(mount.controllers, controller)) continue;
    const auto same = [&](const Hierarchy& group) {
      return group.controllers.empty() == mount.controllers.empty() &&
             serves(group.controllers, controller);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), same);
    if (group == groups.end()) continue;
    add_upwards(root / mount.place.relative_path(), below_mount(group->path, mount.group),
                directories);
  }
  return directories;
}

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

}  // namespace bitcycle
