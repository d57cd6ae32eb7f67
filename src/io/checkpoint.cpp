#include "bitcycle/io/checkpoint.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "io/descriptor.h"
#include "io/manifest.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMarker = "DONE";
constexpr const char* kBest = "best";
constexpr std::string_view kPrefix = "step-";
// What is being written or removed has a name with a dot, which nobody takes for a checkpoint.
constexpr std::string_view kNewPrefix = ".new-", kOldPrefix = ".old-";

std::string name_of(std::int64_t step) {
  return fmt::format("{}{:08}", kPrefix, step);
}

std::optional<std::int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::int64_t step = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (step < 0 || name != name_of(step)) return std::nullopt;
  return step;
}

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw io_error("write", to, error.value());
}

// Whether something stands there that we may see.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string text_of(const fs::path& path) {
  const auto bytes = read_regular_file(path, ErrorCode::checkpoint);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_files(const fs::path& directory, const CheckpointFiles& files, const fs::path& shown) {
  Manifest manifest;
  for (const auto& [name, bytes] : files) {
    write_synced(directory / name, bytes, shown / name);
    manifest[name] = seal(bytes);
  }
  const std::string marker = encode_manifest(manifest);
  write_synced(directory / kMarker, std::as_bytes(std::span(marker)), shown / kMarker);
  sync_directory(directory);
}

std::vector<std::byte> read_sealed(const fs::path& path, const FileSeal& expected) {
  std::vector<std::byte> bytes = read_regular_file(path, ErrorCode::checkpoint);
  const FileSeal found = seal(bytes);
  if (found.size != expected.size) {
    throw Error(ErrorCode::checkpoint, fmt::format("{} is damaged: expected {} bytes, found {}",
                                                   path.string(), expected.size, found.size));
  }
  if (found.crc != expected.crc) {
    throw Error(ErrorCode::checkpoint,
                fmt::format("{} is damaged: expected CRC-32 {:08x}, found {:08x}", path.string(),
                            expected.crc, found.crc));
  }
  return bytes;
}

Error vanished(const fs::path& checkpoint) {
  return Error(ErrorCode::checkpoint,
               fmt::format("{} was removed before it could be read, as others before it",
                           checkpoint.string()),
               "The run in training keeps too few: try again, or raise its checkpoint.keep.");
}

}  // namespace

CheckpointStore::CheckpointStore(const fs::path& run_directory)
    : root_(run_directory / "checkpoints") {}

fs::path CheckpointStore::directory(std::int64_t step) const {
  return root_ / name_of(step);
}

void CheckpointStore::save(std::int64_t step, const CheckpointFiles& files) {
  make_directories(root_);
  remove_leftovers();
  const fs::path target = directory(step);
  const fs::path temporary = root_ / (std::string(kNewPrefix) + name_of(step));
  try {
    make_directories(temporary);
    write_files(temporary, files, target);
    discard(target);
    move_to(temporary, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
  sync_directory(root_);
}

CheckpointFiles CheckpointStore::load(std::int64_t step) const {
  try {
    return verified(step);
  } catch (const Error& error) {
    const auto whole = last_whole_before(step);
    const std::string cure =
        whole ? fmt::format("The checkpoint of step {} is whole: remove {} to go back to it.",
                            *whole, directory(step).string())
              : "There is no whole checkpoint before it: start the run anew.";
    throw Error(error.code(), error.what(), cure);
  }
}

LoadedCheckpoint CheckpointStore::load_chosen(const std::function<std::int64_t()>& choose) const {
  constexpr int kAttempts = 5;
  constexpr auto kPause = std::chrono::milliseconds(20);
  std::optional<std::int64_t> before;
  for (int attempt = 1;; ++attempt) {
    std::optional<std::int64_t> step;
    try {
      step = choose();
      return {*step, load(*step)};
    } catch (const Error& error) {
      const bool damaged = step && is_there(directory(*step));
      if (error.code() != ErrorCode::checkpoint || damaged) throw;
      if (attempt == kAttempts && step && step != before) throw vanished(directory(*step));
      if (attempt == kAttempts) throw;
    }
    before = step;
    std::this_thread::sleep_for(kPause);
  }
}

CheckpointFiles CheckpointStore::verified(std::int64_t step) const {
  const fs::path where = directory(step), marker = where / kMarker;
  if (!is_there(marker)) {
    const char* state = is_there(where) ? "is incomplete: it has no DONE marker" : "is missing";
    throw Error(ErrorCode::checkpoint, fmt::format("{} {}", where.string(), state));
  }
  CheckpointFiles files;
  for (const auto& [name, expected] : decode_manifest(text_of(marker), marker.string())) {
    files[name] = read_sealed(where / name, expected);
  }
  return files;
}

std::optional<std::int64_t> CheckpointStore::last_whole_before(std::int64_t step) const {
  std::vector<std::int64_t> earlier = steps();
  std::erase_if(earlier, [&](std::int64_t other) { return other >= step; });
  for (auto other = earlier.rbegin(); other != earlier.rend(); ++other) {
    if (damage(*other).empty()) return *other;
  }
  return std::nullopt;
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  for (const std::string& name : entries(root_)) {
    const auto step = step_of(name);
    if (step && is_there(root_ / name / kMarker)) found.push_back(*step);
  }
  std::ranges::sort(found);
  return found;
}

std::optional<std::int64_t> CheckpointStore::latest() const {
  const std::vector<std::int64_t> found = steps();
  return found.empty() ? std::nullopt : std::optional(found.back());
}

std::string CheckpointStore::damage(std::int64_t step) const {
  try {
    verified(step);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void CheckpointStore::mark_best(std::int64_t step) {
  write_file(root_ / kBest, name_of(step) + "\n");
}

void CheckpointStore::unmark_best() {
  remove_tree(root_ / kBest);
}

std::optional<std::int64_t> CheckpointStore::best() const {
  if (!is_there(root_ / kBest)) return std::nullopt;
  const std::string text = text_of(root_ / kBest);
  const auto step = step_of(std::string_view(text).substr(0, text.find('\n')));
  if (step) return step;
  throw Error(
      ErrorCode::checkpoint,
      fmt::format("{} is damaged: expected a name like {}", (root_ / kBest).string(), name_of(0)),
      "Write into it the name of a checkpoint that stands beside it.");
}

void CheckpointStore::remove(std::int64_t step) {
  discard(directory(step));
}

void CheckpointStore::prune(int keep, std::int64_t best) {
  std::vector<std::int64_t> old = steps();
  old.resize(old.size() - std::min(old.size(), static_cast<std::size_t>(std::max(keep, 1))));
  for (const std::int64_t step : old) {
    if (step != best) discard(directory(step));
  }
}

// A directory is not removed at once, so it loses its name first: half of it is no checkpoint.
void CheckpointStore::discard(const fs::path& checkpoint) {
  if (!is_there(checkpoint)) return;
  const fs::path unnamed = root_ / (std::string(kOldPrefix) + checkpoint.filename().string());
  move_to(checkpoint, unnamed);
  std::error_code ignored;  // what is left of it goes with the next save
  fs::remove_all(unnamed, ignored);
}

void CheckpointStore::remove_leftovers() {
  remove_temporaries(root_);
  for (const std::string& name : entries(root_)) {
    const bool unsealed = step_of(name) && !is_there(root_ / name / kMarker);
    if (unsealed || name.starts_with(kNewPrefix) || name.starts_with(kOldPrefix)) {
      remove_tree(root_ / name);
    }
  }
}

}  // namespace bitcycle
