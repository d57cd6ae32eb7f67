#pragma once

// Batches, prepared ahead of the trainer. Worker threads decode and augment samples; what a sample
// becomes is keyed by (seed, epoch, sample), and batches are handed out in order, so the stream is
// the same for any number of workers, and can be entered at any step.

#include "bitcycle/data/augment.h"
#include "bitcycle/data/dataset.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace bitcycle {

struct Batch {
  ImageShape shape;                  // of one sample
  std::vector<float> pixels;         // count x height x width x channels, normalised
  std::vector<std::int64_t> labels;  // count
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

enum class SampleOrder { sequential, shuffled };
// What to do with the samples that do not fill a batch at the end of an epoch.
enum class LastBatch { keep, drop };

struct LoaderOptions {
  std::int64_t batch_size = 128;
  SampleOrder order = SampleOrder::shuffled;
  LastBatch last_batch = LastBatch::keep;
  std::uint64_t seed = 0;
  int workers = 1;              // 0: prepare batches on the calling thread
  int prefetch = 4;             // batches prepared ahead
  std::int64_t first_step = 0;  // where the stream starts, counted in batches from epoch 0
};

class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, Augmentation augmentation, LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  std::int64_t steps_per_epoch() const;
  // The next batch; epochs follow each other without end. Rethrows what a worker threw, when the
  // turn of its batch comes. A batch that is no longer needed can be handed back for its memory.
  Batch next(Batch used = {});

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitcycle
