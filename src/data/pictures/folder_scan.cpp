#include "data/pictures/folder_scan.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/thread_places.h"
#include "bitcycle/io/file.h"

#include "data/pictures/directory_walk.h"
#include "data/pictures/picture.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <exception>
#include <fstream>
#include <span>
#include <thread>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostLookedAt = 100'000;
constexpr std::uint64_t kMostDecoded = std::uint64_t{256} << 20;
// Where the start of a JPEG file ends is not known; after this much the whole file is read.
constexpr std::size_t kStart = std::size_t{64} << 10;

struct Candidate {
  PictureFile picture;
  fs::path path;
};

struct Verdict {
  std::string problem;  // empty: a picture
  bool damaged = false;
  bool turned = false;
};

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_named_like_a_picture(const fs::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

// Why something that is neither file nor directory cannot be opened.
std::string unlike_a_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::not_found) return "a link to nowhere";
  return type == fs::file_type::fifo ? "a pipe" : "no file";
}

// Adds what cannot be followed or listed to `scan`.
std::vector<Candidate> list_files(const fs::path& root, const ClassDirectory& directory,
                                  FolderScan& scan) {
  const DirectoryWalk walk = walk_directory(root, directory.path);
  const auto name = [&](const fs::path& p) { return p.lexically_relative(root).generic_string(); };
  std::vector<Candidate> files;
  for (const fs::path& file : walk.files) files.push_back({{name(file), directory.label}, file});
  for (const fs::path& other : walk.others) {
    if (!is_named_like_a_picture(other)) continue;
    scan.skipped.push_back(name(other) + " is " + unlike_a_file(other));
  }
  std::ranges::copy(walk.not_followed, std::back_inserter(scan.skipped));
  std::ranges::copy(walk.unlisted, std::back_inserter(scan.unlisted));
  // The order in which a directory lists its files is the file system's accident.
  std::ranges::sort(files, {}, [](const Candidate& c) { return c.picture.file; });
  return files;
}

std::uint64_t total_bytes(const std::vector<Candidate>& files) {
  std::uint64_t sum = 0;
  std::error_code ignored;
  for (const Candidate& file : files) {
    const std::uintmax_t size = fs::file_size(file.path, ignored);
    if (!ignored) sum += size;
  }
  return sum;
}

std::vector<std::byte> read_start(const fs::path& path) {
  std::vector<std::byte> bytes(kStart);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

PictureHeader look_at_start(const Candidate& file) {
  const std::vector<std::byte> start = read_start(file.path);
  try {
    return read_picture_header(start, file.picture.file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data || start.size() < kStart) throw;
    return read_picture_header(read_file(file.path, ErrorCode::data), file.picture.file);
  }
}

PictureHeader look_at_whole(const Candidate& file) {
  const std::vector<std::byte> bytes = read_file(file.path, ErrorCode::data);
  const PictureHeader header = read_picture_header(bytes, file.picture.file);
  decode_picture(bytes, file.picture.file);
  return header;
}

Verdict judge(const Candidate& file, Look look) {
  if (is_hidden(file.path)) return {file.picture.file + " is hidden"};
  if (look == Look::name) {
    return {is_named_like_a_picture(file.path) ? "" : file.picture.file + " is no picture by name"};
  }
  try {
    return {"", false, (look == Look::start ? look_at_start(file) : look_at_whole(file)).turned};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;  // memory says nothing of the file
    return {error.what(), is_read(picture_format(read_start(file.path)))};
  }
}

// In any order by several threads; the verdicts are in the order of the files.
std::vector<Verdict> judge_all(const std::vector<Candidate>& files, Look look) {
  std::vector<Verdict> verdicts(files.size());
  std::vector<std::exception_ptr> thrown(files.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    leave_places();
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        verdicts[i] = judge(files[i], look);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    }
  };
  {
    const unsigned threads = look == Look::name ? 1 : std::thread::hardware_concurrency();
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::clamp(threads, 1U, 16U); ++i) workers.emplace_back(work);
  }
  for (const std::exception_ptr& error : thrown) {
    if (error) std::rethrow_exception(error);
  }
  return verdicts;
}

}  // namespace

Look look_for(std::size_t files, std::uint64_t bytes) {
  if (files > kMostLookedAt) return Look::name;
  return bytes > kMostDecoded ? Look::start : Look::whole;
}

FolderScan scan_pictures(const DataDirectory& root, const std::vector<ClassDirectory>& classes) {
  FolderScan scan;
  std::vector<Candidate> files;
  for (const ClassDirectory& directory : classes) {
    std::ranges::move(list_files(root.path(), directory, scan), std::back_inserter(files));
  }
  std::ranges::sort(scan.skipped);
  std::ranges::sort(scan.unlisted);
  const bool many = files.size() > kMostLookedAt;
  const Look look = look_for(files.size(), many ? 0 : total_bytes(files));
  std::vector<Verdict> verdicts = judge_all(files, look);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (verdicts[i].problem.empty()) {
      scan.pictures.push_back(std::move(files[i].picture));
      scan.turned += verdicts[i].turned ? 1 : 0;
      continue;
    }
    if (root.lists(files[i].picture.file)) root.read(files[i].picture.file);
    if (verdicts[i].damaged) scan.damaged.push_back(verdicts[i].problem);
    if (is_hidden(files[i].path)) scan.hidden.push_back(verdicts[i].problem);
    scan.skipped.push_back(std::move(verdicts[i].problem));
  }
  return scan;
}

std::vector<std::string> pictures_beside_classes(const fs::path& root, const fs::path& directory) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (is_hidden(entry.path()) || !entry.is_regular_file()) continue;
    const bool picture =
        is_named_like_a_picture(entry.path()) || is_read(picture_format(read_start(entry.path())));
    if (!picture) continue;
    found.push_back(entry.path().lexically_relative(root).generic_string() +
                    " lies beside the directories of the classes, and is in none");
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace bitcycle
