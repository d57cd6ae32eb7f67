#include "data/pictures/directory_walk.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// Whether a directory is another one or lies in it; both canonical.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

class Walker {
 public:
  Walker(const fs::path& root, const fs::path& directory) : root_(root), top_(directory) {}

  // Links wait until all real directories are read, and are taken by name, so that what is read by
  // which way does not depend on the order in which the file system lists things.
  DirectoryWalk walk() {
    read_tree(top_);
    while (!links_.empty()) follow(links_.extract(links_.begin()).value());
    return std::move(walk_);
  }

 private:
  void read_tree(const fs::path& directory) {
    waiting_.push_back(directory);
    while (!waiting_.empty()) {
      const fs::path next = std::move(waiting_.back());
      waiting_.pop_back();
      enter(next);
    }
  }

  void enter(const fs::path& directory) {
    std::error_code error;
    const fs::path place = fs::canonical(directory, error);
    if (error) return tell_unlisted(directory, error);
    const auto [known, fresh] = read_.emplace(place, directory);
    if (fresh) return list(directory);
    walk_.not_followed.push_back(
        fmt::format("{} is read already, as {}", name(directory), name(known->second)));
  }

  void list(const fs::path& directory) {
    std::error_code error;
    fs::directory_iterator entry(directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) add(*entry);
    if (error) tell_unlisted(directory, error);
  }

  void add(const fs::directory_entry& entry) {
    std::error_code error, ignored;
    const fs::file_type type = entry.status(error).type();
    if (error == std::errc::too_many_symbolic_link_levels) {
      tell_circle(entry.path());
    } else if (type == fs::file_type::directory) {
      if (!entry.is_symlink(ignored)) return waiting_.push_back(entry.path());
      links_.insert(entry.path());
    } else {
      (type == fs::file_type::regular ? walk_.files : walk_.others).push_back(entry.path());
    }
  }

  void follow(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    if (error) return tell_unlisted(link, error);
    for (const fs::path& from : {link.parent_path(), top_}) {
      if (lies_in(fs::canonical(from, error), target)) return tell_circle(link);
    }
    read_tree(link);
  }

  void tell_circle(const fs::path& link) {
    walk_.not_followed.push_back(name(link) + " is a link that leads in a circle");
  }
  void tell_unlisted(const fs::path& directory, const std::error_code& error) {
    walk_.unlisted.push_back(
        fmt::format("{} cannot be listed: {}", directory.string(), error.message()));
  }
  std::string name(const fs::path& path) const {
    return path.lexically_relative(root_).generic_string();
  }

  const fs::path root_, top_;
  DirectoryWalk walk_;
  std::vector<fs::path> waiting_;
  std::set<fs::path> links_;
  std::map<fs::path, fs::path> read_;  // where directories really are, and as what they were read
};

}  // namespace

DirectoryWalk walk_directory(const fs::path& root, const fs::path& directory) {
  return Walker(root, directory).walk();
}

}  // namespace bitcycle
