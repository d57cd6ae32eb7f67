#pragma once

// Commands that need LibTorch. Loading it takes about a second, so the `bitcycle` program does not
// link it: there, these functions check what can be checked without it and then replace the process
// by `bitcycle-torch` with the same arguments (hand_over.cpp). In `bitcycle-torch` they do the
// work.

#include "bitcycle/landscape/contour.h"
#include "bitcycle/landscape/landscape.h"
#include "bitcycle/schedule/spec.h"

#include <optional>
#include <string>
#include <vector>

namespace bitcycle::cli {

struct TrainOptions {
  std::string recipe;
  std::vector<std::string> settings;  // --set key=value
  std::string run_dir;
  bool resume = false;
  bool accept_changes = false;  // resume although the recipe differs
  bool quiet = false;
  bool dry_run = false;
};
int run_train(const TrainOptions& options);

struct EvalOptions {
  std::string run;
  std::string bits;  // comma-separated widths, "fp" for float; empty: as the recipe evaluates
  std::string split = "test";
  std::string checkpoint = "best";  // best, last, or a step
  bool json = false;
};
int run_eval(const EvalOptions& options);

struct PredictOptions {
  std::string run;
  std::vector<std::string> pictures;  // files, and folders of them
  std::string bits;                   // a width, "fp" for float; empty: as the recipe evaluates
  std::string checkpoint = "best";    // best, last, or a step
  int top = 3;                        // classes to name
  bool json = false;
};
int run_predict(const PredictOptions& options);

struct RangeTestCommand {
  std::string recipe;
  std::vector<std::string> settings;  // --set key=value
  std::optional<int> from, to;        // bits; unset: as the recipe says, or as usual
  std::optional<double> upper;        // share at which the upper bound is good enough
  bool json = false;
  bool quiet = false;
};
int run_range_test(const RangeTestCommand& command);

struct LandscapeOptions {
  std::vector<std::string> runs;
  std::string checkpoint = "best";  // best, last, or a step
  LandscapeSettings settings;
  LevelRange levels;            // of the contours
  double rise = 0.5;            // the area is that of {loss < loss(0) + rise}
  std::optional<double> level;  // or of {loss < level}
  std::string output = "landscape";
  bool quiet = false;
  bool json = false;
};
int run_landscape(const LandscapeOptions& options);

struct BenchStepOptions {
  std::string model = "cifar_resnet38";
  std::optional<int> batch;  // unset: as usual for the model
  int bits = 3;
  int grad_bits = 8;
  std::string backend = "simulate";
  int threads = 0;
  int repeats = 7;
  bool authors = false;     // also time the way of CPT's authors
  bool statistics = false;  // also time a step in which the layers are looked at
  bool json = false;
};
int run_bench_step(const BenchStepOptions& options);

// Of a network whose gates choose the precision of each block for each sample.
struct BenchDynamicOptions {
  std::string model = "cifar_resnet38";
  int batch = 128;
  std::string options = "cifar";  // a list by name
  int weight = 4;                 // bits
  std::string choices;            // a run whose choices are drawn; empty: all options equally often
  std::vector<double> skip;       // percent of samples that skip each block
  int threads = 0;
  int repeats = 7;
  bool json = false;
};
int run_bench_dynamic(const BenchDynamicOptions& options);

struct BenchScheduleOptions {
  std::string model = "cifar_resnet38";
  std::optional<int> batch;  // unset: as usual for the model
  std::string bits = "3:8";
  int grad_bits = 8;
  std::string schedule = "CR";
  Step cycle_steps = 2000;  // 64,000 steps in 32 cycles, as in the papers
  std::string backend = "integer";
  int threads = 0;
  int repeats = 7;
  bool json = false;
};
// The schedule of a run of two cycles, checked: those of triangular ones fall and rise in turn.
ScheduleSpec two_cycles(const BenchScheduleOptions& options);
int run_bench_schedule(const BenchScheduleOptions& options);

}  // namespace bitcycle::cli
