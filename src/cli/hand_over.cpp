// The torch commands in the program without LibTorch: check what can be checked here, so that a
// mistake is answered in milliseconds, then let `bitcycle-torch` take over this process.

#include "bitcycle/base/error.h"
#include "bitcycle/kernels/isa.h"
#include "bitcycle/network/zoo.h"

#include "cli/run_paths.h"
#include "cli/torch_commands.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "bitcycle-torch";

// Beside this program in a build tree, in ../libexec/bitcycle once installed.
fs::path torch_program() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {here, here / "../libexec/bitcycle"}) {
    if (fs::exists(place / kProgram)) return place / kProgram;
  }
  throw Error(ErrorCode::usage,
              "this command needs LibTorch, and " + std::string(kProgram) + " is not beside " +
                  (here / "bitcycle").string(),
              "Build with -DBITCYCLE_TORCH=ON (the default).");
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

// OpenMP reads its settings when it is loaded, which is why they are made here. Unbound threads may
// share a core for a whole run; a single thread is better left to the system. The number is stated
// because a bound process sees one core only.
void bind_threads(int threads) {
  const int used = threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency());
  setenv("OMP_NUM_THREADS", std::to_string(used).c_str(), /*overwrite=*/0);
  if (used > 1) setenv("OMP_PROC_BIND", "true", /*overwrite=*/0);
}

// Both sides of a bench use the instruction set that BITCYCLE_ISA names. LibTorch and oneDNN have
// settings of their own for it; below AVX2 they are left at their best.
void limit_baseline() {
  if (active_isa() != Isa::avx2) return;
  setenv("ATEN_CPU_CAPABILITY", "avx2", /*overwrite=*/0);
  setenv("DNNL_MAX_CPU_ISA", "AVX2", /*overwrite=*/0);
}

[[noreturn]] void hand_over(int threads) {
  bind_threads(threads);
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
  parse_widths(options.bits);
  hand_over(read_recipe(run_recipe(options.run)).threads);
}

int run_bench_step(const BenchStepOptions& options) {
  make_network(options.model);
  limit_baseline();
  hand_over(options.threads);
}

int run_bench_schedule(const BenchScheduleOptions& options) {
  make_network(options.model);
  two_cycles(options);
  limit_baseline();
  hand_over(options.threads);
}

}  // namespace bitcycle::cli
