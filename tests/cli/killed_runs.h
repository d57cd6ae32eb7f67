#pragma once

// Runs `bitcycle train` in processes of their own that end where a test wants, and compares the run
// directories that they leave. The processes are forked from the test, so that LibTorch is loaded
// once and a run takes a fraction of a second.

#include "cli/directory_changes.h"
#include "io/temporary_directory.h"

#include <filesystem>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <sys/types.h>

namespace bitcycle {

enum class Start { afresh, resume };

// How a process ended: the number of the signal that killed it, or else its exit status.
struct End {
  int signal = 0;
  int status = 0;

  bool operator==(const End&) const = default;
};
constexpr End kFinished{};
std::string shown(const End& end);
inline void PrintTo(const End& end, std::ostream* out) {  // GoogleTest's hook
  *out << shown(end);
}

// Every entry of a run directory by its path in it, with a file's content. The measured times
// differ between equal runs, so timing.jsonl counts as a name alone.
using RunContent = std::map<std::string, std::string>;
RunContent content(const std::filesystem::path& run);

// In words, the first difference; empty when there is none.
std::string difference(const RunContent& expected, const RunContent& found);

// Pictures at scheduled bits, text, and pictures at bits that rise (PFQ), that gates choose (DFQ),
// and that gates choose for a cost that rises (FracTrain).
enum class Trained { pictures, text, stages, gates, gated_stages };

class KilledRuns {
 public:
  // Trains a small recipe undisturbed.
  explicit KilledRuns(Trained what = Trained::pictures);

  const RunContent& whole() const { return whole_; }
  std::filesystem::path run(const std::string& name) const { return root_ / name; }

  // Starts training in a process of its own.
  pid_t start(const std::filesystem::path& run, Start how, const Interruption& interruption = {});
  // Waits for it.
  static End end(pid_t process);
  // Both. The calls that it made are then changes().
  End train(const std::filesystem::path& run, Start how, const Interruption& interruption = {});

  // Every way to interrupt what `calls` are of: before each, amid each write.
  static std::vector<Interruption> interruptions(const std::vector<std::string>& calls);

  // Kills a run that has the content of `before` (which may not exist) at each of the
  // interruptions, resumes it to its end, and returns what is wrong with the results, a line each.
  std::string kill_and_resume(const std::filesystem::path& before,
                              const std::vector<Interruption>& interruptions);
  // Kills runs, each until it finishes all the same, until so many kills are done; the moments are
  // drawn from the time that an undisturbed run takes. Returns what is wrong with the first result
  // that is.
  std::string kill_at_random_moments(int kills);

 private:
  TemporaryDirectory root_;
  RunContent whole_;
  double whole_seconds_ = 0;
};

}  // namespace bitcycle
