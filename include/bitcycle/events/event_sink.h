#pragma once

// Where the events of a run go: the files of its directory, the terminal, or a place of one's own.
// The trainer tells every sink everything, in the order in which it happens.
//
// Note [Sinks that resume]: a checkpoint stores, under a sink's name, the offset that its sync()
// returned. When the run is resumed there, begin() is given that offset, and the sink forgets what
// it was told after it, since it will be told again. So a run that was stopped leaves the same
// files as one that was not. Sinks without a file, such as a terminal's, need neither.

#include "bitcycle/events/layer_statistics.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/network/layer_bits.h"
#include "bitcycle/schedule/schedule.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bitcycle {

struct RunStart {
  std::string run;       // which run this is, see TrainState::run
  std::string recipe;    // as TOML, what decides its results
  std::string backend;   // what carries out its precision
  std::string counting;  // the rule by which its bit operations are counted
  Step step = 0;         // done before; above 0 the run is resumed
};

struct StepReport {
  Step step = 0;  // steps done
  Step total = 0;
  double epoch = 0;
  std::vector<Measured> metrics;  // means since the last logged step
  double lr = 0;
  LayerBits bits;            // of the layers that have none of their own
  double bitops = 0;         // spent so far
  double bitops_static = 0;  // what the same steps cost at the schedule's upper bound
  // Where gates choose: what share of the samples since the last logged step chose each option, by
  // block and option.
  std::vector<std::vector<double>> choices = {};
  double seconds = 0;  // measured since the last logged step
  double steps_per_second = 0;
  bool logged = false;  // whether this step ends an interval of log_every
};

struct EvaluationReport {
  Step step = 0;
  std::string split;  // validation or test
  std::string bits;   // as the recipe states them
  Score score;
  bool best = false;
  std::string widths = {};  // what these are: "8", "" where gates decide
};

// One of the evaluations that a finished training ends with goes on; it may take a while.
struct EvaluationStart {
  Step step = 0;                    // whose weights they are
  std::string split, bits, widths;  // as of EvaluationReport
};

// The best checkpoint was damaged: which it was, and which takes its place (step 0: none yet).
struct LostBestReport {
  Step step = 0;
  std::string metric;
  Step lost_step = 0;
  double lost_value = 0;
  Step best_step = 0;
  double best_value = 0;
  std::string damage;
};

// The policy went from one stage of precision to the next.
struct StageChange {
  Step step = 0;  // the first of the new stage
  std::string from, to;
  std::string reason;
  // Of a policy that waits for the loss to settle: how much it still moved, and how much it may.
  std::optional<double> difference, threshold;
};

// A sink without which the run goes on could not write: it is told nothing more.
struct LostSinkReport {
  std::string sink;
  std::string reason, hint;  // as of an Error
};

// What becomes of a run when a sink cannot write (Error(io) or Error(checkpoint)): it ends with the
// sink's error, or that is reported once and the run goes on without the sink. Of a resumed run
// such a sink starts anew where its file is not as the checkpoint left it.
enum class Importance { essential, dispensable };

// The run is at its end, and tested.
struct RunFinish {
  Step step = 0;       // steps done
  Step best_step = 0;  // 0: no evaluation was finite
  Score test;          // of the last weights
  Score test_of_best;  // of those at best_step, if there are any
};

class EventSink {
 public:
  virtual ~EventSink() = default;

  // Under which checkpoints keep the sink's offset; sinks of a run have different ones.
  virtual std::string name() const = 0;
  virtual Importance importance() const { return Importance::essential; }

  virtual void begin(const RunStart&, std::uint64_t /*offset*/) {}
  virtual void step(const StepReport&) {}
  virtual void layers(const LayerReport&) {}
  virtual void evaluating(const EvaluationStart&) {}
  virtual void evaluation(const EvaluationReport&) {}
  virtual void stage(const StageChange&) {}
  virtual void lost_best(const LostBestReport&) {}
  virtual void lost_sink(const LostSinkReport&) {}
  // Somebody stopped the run after this step; it may be resumed.
  virtual void stop(const StepReport&) {}
  // The last that a run tells; one that is resumed behind its end tells it again.
  virtual void finish(const RunFinish&) {}

  // Returns once everything told so far stands where it belongs.
  virtual std::uint64_t sync() { return 0; }
};

using EventSinks = std::vector<std::shared_ptr<EventSink>>;

}  // namespace bitcycle
