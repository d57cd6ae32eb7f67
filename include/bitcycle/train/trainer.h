#pragma once

// Trains a recipe's network in a run directory:
//
//   recipe.toml      the recipe with every default spelled out
//   weights.json     what it took of the weights that it started from, if the recipe names some
//   metrics.jsonl    what it computed, see bitcycle/events/metrics_file.h
//   timing.jsonl     measured seconds; the only file that differs between equal runs
//   layers.jsonl     what quantizing did to its layers, see bitcycle/events/layers_file.h
//   events.out.…     the same and more for TensorBoard, see bitcycle/events/tensorboard_file.h
//   checkpoints/     see bitcycle/io/checkpoint.h
//   summary.json     written when the run is finished
//
// A run that is killed at any moment and resumed ends in the same bytes as one that was not, and
// leaves no other files.

#include "bitcycle/base/stop_signal.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/events/event_sink.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/train/run_parts.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bitcycle {

enum class TrainOutcome { finished, stopped };
enum class DataChanges { refuse, accept };

// What a few steps tell of a run before it starts.
struct Rehearsal {
  std::vector<double> seconds;  // of each step
  double work = 0;              // of these steps
  // Of every step of a whole run, whose epochs may end in a smaller batch; empty where the task
  // does not know.
  std::vector<double> run_work;
  std::int64_t parameters = 0;  // of the model
  std::vector<LayerInfo> layers;
  std::string backend;
};

class Trainer {
 public:
  // Builds the network and opens the data; reads and writes nothing in the run directory. The
  // sinks are told of the run besides its own files; the parts stand in place of the recipe's.
  Trainer(const Recipe& recipe, std::filesystem::path run_directory, EventSinks sinks = {},
          const RunParts& parts = {});
  ~Trainer();

  // Continues from the newest checkpoint; false when there is none, and the run starts afresh.
  // Throws Error(checkpoint) when it is damaged or of another run, Error(data) when the data are
  // not those that the run was trained on so far and this is not accepted.
  bool resume(DataChanges changes = DataChanges::refuse);
  // Steps done so far, and in all.
  Step step() const;
  Step total_steps() const;
  const RunLength& length() const;
  // What carries out its precision.
  std::string backend() const;
  // What is worth telling before the run starts, besides notices(recipe, length()); a line each.
  const std::vector<std::string>& notices() const;
  // Likewise, for those too who want to hear nothing else.
  const std::vector<std::string>& warnings() const;

  // Trains to the end, or until `stop` asks, which also cuts evaluations short: a resumed run makes
  // them. Either way a checkpoint stands when it returns. Makes
  // the run directory if need be. Throws Error(usage) where it holds a run that was not resumed,
  // Error(diverged) when the loss is not finite.
  TrainOutcome run(const StopSignal& stop);

  // Trains from the start, without evaluations and checkpoints, until `enough` says so, the run is
  // at its end, or `stop` asks. Tells `sinks` alone, and writes nothing. Not to be followed by
  // run().
  TrainOutcome practise(const StopSignal& stop, EventSinks sinks,
                        const std::function<bool()>& enough);

  // Carries out `steps` steps, spread over the run so that they have the bits of all of it, at a
  // learning rate of zero; under a policy that follows the run, with the bits that it begins with.
  // Writes nothing. Not to be followed by run().
  Rehearsal rehearse(int steps);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
