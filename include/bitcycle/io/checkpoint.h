#pragma once

// The checkpoints of a run, RUN/checkpoints/step-00012800/, each a set of named files. A checkpoint
// is written beside its place, synced, sealed with a DONE marker that lists the size and CRC-32 of
// every file, and renamed into place; so a process killed at any moment, or a full disk, leaves
// whole checkpoints and nothing that could be taken for one.
//
// One process may write at a time (RunLock sees to it); others may read meanwhile.
//
// Note [Checkpoints that vanish]: a run in training removes older checkpoints (checkpoint.keep), so
// one that a reader has found may be gone before it is read. Whoever reads those of a run that may
// be going on therefore says how to choose one, and is asked again when it is gone (load_chosen).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

// Where a run keeps its averaged weights: a folder with a checkpoint of their own, of its last
// step.
inline constexpr const char* kAveragedFolder = "averaged";

using CheckpointFiles = std::map<std::string, std::vector<std::byte>>;

struct LoadedCheckpoint {
  std::int64_t step = 0;
  CheckpointFiles files;
};

class CheckpointStore {
 public:
  explicit CheckpointStore(const std::filesystem::path& run_directory);

  // Adds the checkpoint of a step, in place of one that is there already. Clears leftovers away
  // first, so that they take no room from it. Throws Error(io); the checkpoints of other steps
  // stand.
  void save(std::int64_t step, const CheckpointFiles& files);

  // Reads a checkpoint and holds every byte against the marker. Throws Error(checkpoint) that names
  // the damaged or missing file and, when there is one, the whole checkpoint to go back to.
  CheckpointFiles load(std::int64_t step) const;

  // Reads the checkpoint of the step that `choose` returns. It is asked again, a few times, when
  // that one is gone by then, or when it found none (Error(checkpoint)).
  LoadedCheckpoint load_chosen(const std::function<std::int64_t()>& choose) const;

  // Steps of the sealed checkpoints, ascending. Whether their files are sound, load() finds out.
  std::vector<std::int64_t> steps() const;
  std::optional<std::int64_t> latest() const;

  // What load() would complain about; empty when the checkpoint is whole.
  std::string damage(std::int64_t step) const;

  // Remembers which saved checkpoint is the best so far, or that none is.
  void mark_best(std::int64_t step);
  void unmark_best();
  std::optional<std::int64_t> best() const;

  // Removes the checkpoint of a step, if there is one.
  void remove(std::int64_t step);

  // Removes all but the newest `keep` (at least one) and that of step `best`.
  void prune(int keep, std::int64_t best);

  // Removes what a killed process left half-written or half-removed, and unsealed checkpoints.
  void remove_leftovers();

  // Where the checkpoint of a step stands.
  std::filesystem::path directory(std::int64_t step) const;

 private:
  CheckpointFiles verified(std::int64_t step) const;
  std::optional<std::int64_t> last_whole_before(std::int64_t step) const;
  void discard(const std::filesystem::path& checkpoint);

  std::filesystem::path root_;
};

}  // namespace bitcycle
