#pragma once

// Trains a recipe's network in a run directory:
//
//   recipe.toml      the recipe with every default spelled out
//   metrics.jsonl    first the backend; then one line a logged step, one an evaluation
//   timing.jsonl     measured seconds; the only file that differs between equal runs
//   checkpoints/     see bitcycle/io/checkpoint.h
//   summary.json     written when the run is finished
//
// A run that is killed at any moment and resumed ends in the same bytes as one that was not, and
// leaves no other files.

#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/train/evaluate.h"
#include "bitcycle/train/stop_signal.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bitcycle {

// How far a run is, for progress displays.
struct StepReport {
  Step step = 0;  // steps done
  Step total = 0;
  double epoch = 0;
  double loss = 0;      // means since the last logged step
  double accuracy = 0;  // percent
  double lr = 0;
  LayerBits bits;
  double cost_of_static = 1;  // bit operations so far over those of the static run
  double steps_per_second = 0;
  bool logged = false;  // whether this step stands in metrics.jsonl
};

struct EvaluationReport {
  Step step = 0;
  std::string split;  // validation or test
  std::string bits;
  Score score;
  bool best = false;
};

struct TrainEvents {
  std::function<void(const StepReport&)> step;
  std::function<void(const EvaluationReport&)> evaluation;
  std::function<void(const std::string&)> warning;  // something is lost, and the run goes on
};

enum class TrainOutcome { finished, stopped };
enum class DataChanges { refuse, accept };

class Trainer {
 public:
  // Builds the network and opens the data; reads and writes nothing in the run directory.
  Trainer(const Recipe& recipe, std::filesystem::path run_directory, TrainEvents events = {});
  ~Trainer();

  // Continues from the newest checkpoint; false when there is none, and the run starts afresh.
  // Throws Error(checkpoint) when it is damaged or of another run, Error(data) when the data are
  // not those that the run was trained on so far and this is not accepted.
  bool resume(DataChanges changes = DataChanges::refuse);
  // Steps done so far, and in all.
  Step step() const;
  Step total_steps() const;
  const RunLength& length() const;
  // What is worth telling before the run starts, besides notices(recipe, length()); a line each.
  const std::vector<std::string>& notices() const;

  // Trains to the end, or until `stop` asks; either way a checkpoint stands when it returns. Throws
  // Error(diverged) when the loss is not finite.
  TrainOutcome run(const StopSignal& stop);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
