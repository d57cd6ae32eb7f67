// The torch commands in the program without LibTorch: check what can be checked here, so that a
// mistake is answered in milliseconds, then let `bitcycle-torch` take over this process.

#include "bitcycle/base/error.h"
#include "bitcycle/base/processors.h"
#include "bitcycle/base/thread_places.h"
#include "bitcycle/config/task_kind.h"
#include "bitcycle/kernels/isa.h"

#include "cli/cost/cost_subject.h"
#include "cli/landscape/landscape_result.h"
#include "cli/predict/predict_subject.h"
#include "cli/range/range_subject.h"
#include "cli/runs/run_checkpoint.h"
#include "cli/runs/run_paths.h"
#include "cli/torch_commands.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "bitcycle-torch";

// Beside this program in a build tree, in ../libexec/bitcycle once installed.
fs::path torch_program() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) {
    throw Error(ErrorCode::io, "/proc/self/exe cannot be read: " + error.message(),
                "Mount /proc: " + std::string(kProgram) + " is looked for beside this program.");
  }
  for (const fs::path& place : {here, here / "../libexec/bitcycle"}) {
    if (fs::exists(place / kProgram)) return place / kProgram;
  }
  throw Error(ErrorCode::usage,
              "this command needs LibTorch, and " + std::string(kProgram) + " is not beside " +
                  (here / "bitcycle").string(),
              "Build with -DBITCYCLE_TORCH=ON (the default).");
}

constexpr int kMaxThreads = 1024;  // as in recipes

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

// What the user has asked for: of the recipe or the command line, else of OpenMP; 0: nothing.
int wanted_threads(int threads) {
  if (threads > 0) return threads;
  const char* value = std::getenv("OMP_NUM_THREADS");
  if (value == nullptr) return 0;
  const int wanted = std::atoi(value);  // of a list, one number per level, the first
  if (wanted >= 1 && wanted <= kMaxThreads) return wanted;
  throw Error(ErrorCode::usage,
              "OMP_NUM_THREADS: expected a number of threads from 1 to " +
                  std::to_string(kMaxThreads) + ", found \"" + value + "\"",
              "Unset it to use one thread for each core.");
}

bool placed_by_user() {
  return std::getenv("OMP_PROC_BIND") != nullptr || std::getenv("OMP_PLACES") != nullptr ||
         std::getenv("GOMP_CPU_AFFINITY") != nullptr;
}

// OpenMP reads its settings when it is loaded, which is why they are made here. The number of
// threads is stated because a bound process sees one core only. Under a quota of less than the
// cores nothing is bound: the others under such quotas, whose claims cannot be seen from a
// container, would choose the same cores. The claims last as long as the process.
[[nodiscard]] std::optional<ThreadPlaces> place_threads(int threads) {
  // OpenMP has bound this program's only thread to the user's first place, and what follows would
  // see no other.
  if (placed_by_user()) leave_places();
  const std::vector<ProcessorCore> cores = physical_cores(allowed_cpus());
  const std::optional<double> quota = cpu_quota();
  const int wanted = wanted_threads(threads);
  const int used = wanted > 0 ? wanted : default_threads(cores.size(), quota);
  setenv("OMP_NUM_THREADS", std::to_string(used).c_str(), /*overwrite=*/threads > 0 ? 1 : 0);
  const bool part = quota && *quota < static_cast<double>(cores.size());
  if (part || placed_by_user()) return std::nullopt;
  std::optional<ThreadPlaces> places = claim_places(cores, used);
  if (!places) return std::nullopt;
  setenv("OMP_PLACES", places->omp_places.c_str(), /*overwrite=*/1);
  setenv("OMP_PROC_BIND", "close", /*overwrite=*/1);
  return places;
}

// A thread that waits for the others spins before it sleeps, and on a core that it shares it takes
// from them the time that they need to come. libgomp knows of its own threads alone: where it has
// more of them than cores, it spins a thousand times in place of 300,000. Others may use the cores
// too, so here it always does.
void limit_spinning() {
  constexpr const char* kSpins = "1000";
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  if (policy != nullptr && *policy != '\0') return;
  unsetenv("OMP_WAIT_POLICY");  // libgomp complains of an empty one
  setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/0);
}

// Both sides of a bench use the instruction set that BITCYCLE_ISA names. LibTorch, oneDNN and
// OpenBLAS have settings of their own for it; below AVX2 they are left at their best.
void limit_baseline() {
  if (active_isa() != Isa::avx2) return;
  setenv("ATEN_CPU_CAPABILITY", "avx2", /*overwrite=*/0);
  setenv("DNNL_MAX_CPU_ISA", "AVX2", /*overwrite=*/0);
  setenv("OPENBLAS_CORETYPE", "Haswell", /*overwrite=*/0);
}

// With less than this LibTorch's libraries abort, or never end, while they are loaded.
void require_room_for_libraries() {
  constexpr rlim_t kLeast = rlim_t{880} << 20;
  rlimit limit = {};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw Error(ErrorCode::memory,
              "LibTorch needs 880 MiB of address space to start, and the limit is " +
                  std::to_string(limit.rlim_cur >> 20) + " MiB",
              "Raise it: `ulimit -v unlimited`.");
}

[[noreturn]] void hand_over(int threads) {
  require_room_for_libraries();
  const std::optional<ThreadPlaces> places = place_threads(threads);
  limit_spinning();
  const fs::path program = torch_program();
  std::vector<std::string> arguments = own_arguments();
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  throw Error(ErrorCode::io, "cannot start " + program.string());
}

}  // namespace

int run_train(const TrainOptions& options) {
  const TrainPaths paths = train_paths(options);
  hand_over(read_recipe(paths.recipe, options.settings).threads);
}

int run_eval(const EvalOptions& options) {
  if (!options.bits.empty()) parse_widths(options.bits);
  hand_over(read_recipe(run_recipe(options.run)).threads);
}

int run_predict(const PredictOptions& options) {
  hand_over(predict_subject(options).recipe.threads);
}

int run_range_test(const RangeTestCommand& command) {
  hand_over(range_test_recipe(command).threads);
}

// What is stored already needs drawing alone.
int run_landscape(const LandscapeOptions& options) {
  std::vector<Landscape> stored;
  for (const std::string& run : options.runs) {
    read_recipe(run_recipe(run));  // throws where there is no run
    const RunCheckpoint checkpoint = read_checkpoint(run, options.checkpoint);
    if (auto landscape =
            stored_landscape(checkpoint.home, landscape_subject(options, checkpoint))) {
      stored.push_back(std::move(*landscape));
    }
  }
  if (stored.size() == options.runs.size()) return show_landscapes(options, stored);
  hand_over(read_recipe(run_recipe(options.runs.front())).threads);
}

int run_bench_step(const BenchStepOptions& options) {
  cost_subject({.model = options.model});  // throws where there is no such model
  limit_baseline();
  hand_over(options.threads);
}

int run_bench_dynamic(const BenchDynamicOptions& options) {
  cost_subject({.model = options.model});  // throws where there is no such model
  if (task_of(options.model) == TaskKind::language_model) {
    throw Error(ErrorCode::usage,
                "--policy dynamic expects a network with residual blocks, found " + options.model +
                    ", which has no blocks",
                "Choose a network for pictures (bitcycle models).");
  }
  hand_over(options.threads);
}

int run_bench_schedule(const BenchScheduleOptions& options) {
  cost_subject({.model = options.model});  // throws where there is no such model
  two_cycles(options);
  limit_baseline();
  hand_over(options.threads);
}

}  // namespace bitcycle::cli
