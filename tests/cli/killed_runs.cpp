#include "cli/killed_runs.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/random.h"
#include "bitcycle/io/file.h"

#include "cli/torch_commands.h"

#include <chrono>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

// Steps with an evaluation and a checkpoint each, of which the newest and the best are kept. To be
// filled in: how many, and the precision.
constexpr const char* kPicturesRecipe = R"(
steps = {}
threads = 1
log_every = 1
[model]
name = "cifar_resnet8"
[data]
dataset = "synthetic"
batch_size = 8
limit = 16
workers = 0
[optimizer]
lr = 0.02
{}
[evaluation]
every_epochs = 0.5
[checkpoint]
every_epochs = 0.5
keep = 1
)";
constexpr const char* kCyclic = R"([precision]
backend = "simulate"
forward = { schedule = "CR", min = 3, max = 8, cycles = 2 }
backward = 8)";
// The third and the fifth step begin a stage. A period is one step and a window two, so that
// something of it is always carried.
constexpr const char* kStaged = R"([precision]
backend = "simulate"
[precision.progressive]
forward = [3, 4, 8]
backward = [6, 6, 8]
epsilon = 100
alpha = 1
window = 2
period = 1)";
constexpr const char* kGated = R"([precision]
backend = "integer"
[precision.dynamic]
options = [[0, 0], [3, 6], [6, 12]]
weight = 4
beta = 0.05
target = 2.5)";
// Stages begin as above.
constexpr const char* kGatedStages = R"([precision]
backend = "integer"
[precision.dynamic]
options = [[0, 0], [3, 6], [6, 12]]
weight = 4
beta = 0.05
target = [1.5, 2.5, 4]
epsilon = 100
alpha = 1
window = 2
period = 1)";

// Five steps of an LSTM that carries its state, likewise.
constexpr const char* kLanguageRecipe = R"(
steps = 5
threads = 1
log_every = 1
[model]
name = "lstm_lm"
hidden = 6
layers = 1
[data]
dataset = "text"
root = "{}"
batch_size = 2
window = 10
workers = 0
[optimizer]
lr = 1.0
clip_norm = 0.25
[lr_schedule]
name = "plateau"
factor = 0.5
[precision]
backend = "integer"
forward = {{ schedule = "CR", min = 3, max = 8, cycles = 2 }}
backward = 8
[evaluation]
every_epochs = 0.001
[checkpoint]
every_epochs = 0.001
keep = 1
)";

std::string recipe_of(Trained what, const fs::path& text) {
  if (what == Trained::text) return fmt::format(kLanguageRecipe, text.string());
  if (what == Trained::stages) return fmt::format(kPicturesRecipe, 6, kStaged);
  if (what == Trained::gates) return fmt::format(kPicturesRecipe, 6, kGated);
  if (what == Trained::gated_stages) return fmt::format(kPicturesRecipe, 6, kGatedStages);
  return fmt::format(kPicturesRecipe, 4, kCyclic);
}

// A forked process has nothing to say: what it does is seen in its run directory.
void be_silent() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

int train_here(const cli::TrainOptions& options) {
  try {
    return cli::run_train(options);
  } catch (const Error& error) {
    return exit_status(error.code());
  } catch (const std::exception&) {
    return 1;
  }
}

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string shown(const End& end) {
  return end.signal != 0 ? fmt::format("killed by signal {}", end.signal)
                         : fmt::format("exit status {}", end.status);
}

RunContent content(const fs::path& run) {
  RunContent found;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const std::string name = fs::relative(entry.path(), run).string();
    const bool compared = entry.is_regular_file() && name != "timing.jsonl";
    found[name] = compared ? text_of(entry.path()) : "";
  }
  return found;
}

std::string difference(const RunContent& expected, const RunContent& found) {
  for (const auto& [name, text] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) return name + " is missing";
    if (other->second != text) return name + " differs";
  }
  for (const auto& [name, text] : found) {
    if (expected.count(name) == 0) return name + " is left over";
  }
  return "";
}

KilledRuns::KilledRuns(Trained what) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>('a' + i * i % 7);
  write_file(root_ / "text.txt", text);
  write_file(root_ / "small.toml", recipe_of(what, root_ / "text.txt"));
  const auto start = std::chrono::steady_clock::now();
  const End end = train(run("whole"), Start::afresh);
  whole_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (end != kFinished) throw std::runtime_error("the undisturbed run: " + shown(end));
  whole_ = content(run("whole"));
}

pid_t KilledRuns::start(const fs::path& run, Start how, const Interruption& interruption) {
  const cli::TrainOptions options{.recipe = (root_ / "small.toml").string(),
                                  .run_dir = run.string(),
                                  .resume = how == Start::resume,
                                  .quiet = true};
  forget_changes();
  const pid_t process = ::fork();
  if (process != 0) return process;
  be_silent();
  interrupt(run, interruption);
  ::_exit(train_here(options));
}

End KilledRuns::end(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

End KilledRuns::train(const fs::path& run, Start how, const Interruption& interruption) {
  return end(start(run, how, interruption));
}

std::vector<Interruption> KilledRuns::interruptions(const std::vector<std::string>& calls) {
  std::vector<Interruption> all;
  for (int call = 1; call <= static_cast<int>(calls.size()); ++call) {
    all.push_back({.call = call, .moment = Moment::before});
    if (calls[static_cast<std::size_t>(call) - 1] == "write") {
      all.push_back({.call = call, .moment = Moment::amid});
    }
  }
  return all;
}

std::string KilledRuns::kill_and_resume(const fs::path& before,
                                        const std::vector<Interruption>& interruptions) {
  const fs::path killed = run("killed");
  const bool fresh = !fs::exists(before);
  std::string wrong;
  for (const Interruption& interruption : interruptions) {
    fs::remove_all(killed);
    if (!fresh) fs::copy(before, killed, fs::copy_options::recursive);
    const End first = train(killed, fresh ? Start::afresh : Start::resume, interruption);
    const End second = train(killed, Start::resume);
    const std::string found = second == kFinished ? difference(whole_, content(killed))
                                                  : "the resumed run: " + shown(second);
    if (first.signal == interruption.signal && found.empty()) continue;
    wrong += fmt::format("{} call {}: {}; {}\n",
                         interruption.moment == Moment::before ? "before" : "amid",
                         interruption.call, shown(first), found);
  }
  return wrong;
}

std::string KilledRuns::kill_at_random_moments(int kills) {
  const RandomKey key(2024);
  int done = 0;
  for (std::uint64_t moment = 0; done < kills;) {
    const fs::path killed = run("killed");
    fs::remove_all(killed);
    End last{.signal = SIGKILL};
    while (last.signal == SIGKILL) {
      const pid_t process = start(killed, Start::resume);
      ::usleep(static_cast<useconds_t>(1e6 * whole_seconds_ * key.uniform(moment++)));
      ::kill(process, SIGKILL);
      last = end(process);
      done += last.signal == SIGKILL ? 1 : 0;
    }
    const std::string found =
        last == kFinished ? difference(whole_, content(killed)) : "the resumed run: " + shown(last);
    if (!found.empty()) return fmt::format("after {} kills: {}", done, found);
  }
  return "";
}

}  // namespace bitcycle
