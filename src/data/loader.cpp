#include "bitcycle/data/loader.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/base/random.h"
#include "bitcycle/base/thread_places.h"

#include "data/epoch_orders.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

namespace bitcycle {
namespace {

void require_usable(const Dataset& dataset, const LoaderOptions& options) {
  if (options.batch_size < 1) {
    throw Error(ErrorCode::usage,
                fmt::format("expected a batch size of at least 1, found {}", options.batch_size));
  }
  if (dataset.size() == 0) {
    throw Error(ErrorCode::data, "the dataset has no samples", "Add samples to it.");
  }
  if (options.last_batch == LastBatch::drop && dataset.size() < options.batch_size) {
    throw Error(ErrorCode::data,
                fmt::format("the dataset has {} samples, too few for one batch of {}",
                            dataset.size(), options.batch_size),
                "Lower the batch size or use more samples.");
  }
}

// Makes the batch of any step, from nothing but the step: the part that workers run.
class BatchMaker {
 public:
  BatchMaker(std::shared_ptr<const Dataset> dataset, Augmentation augmentation,
             const LoaderOptions& options)
      : dataset_(std::move(dataset)),
        augmentation_(std::move(augmentation)),
        options_(options),
        shape_(output_shape(augmentation_, dataset_->image(0).shape)),
        draws_(RandomKey(options.seed).derive("augment")),
        orders_(dataset_->size(), RandomKey(options.seed).derive("shuffle")) {}

  std::int64_t steps_per_epoch() const {
    const std::int64_t size = dataset_->size();
    if (options_.last_batch == LastBatch::drop) return size / options_.batch_size;
    return (size + options_.batch_size - 1) / options_.batch_size;
  }

  // Floats, so that no number of pictures overflows.
  double batch_bytes() const {
    const auto count = static_cast<double>(std::min(options_.batch_size, dataset_->size()));
    return count * static_cast<double>(shape_.elements()) * sizeof(float);
  }
  const ImageShape& shape() const { return shape_; }

  // `used` lends its memory.
  Batch make(std::int64_t step, Batch used) {
    const std::int64_t epoch = step / steps_per_epoch();
    const std::int64_t first = step % steps_per_epoch() * options_.batch_size;
    const std::int64_t count = std::min(options_.batch_size, dataset_->size() - first);
    const auto order = options_.order == SampleOrder::shuffled ? orders_.of(epoch) : nullptr;
    Batch batch = std::move(used);
    batch.shape = shape_;
    batch.labels.resize(static_cast<std::size_t>(count));
    batch.pixels.resize(static_cast<std::size_t>(count * shape_.elements()));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = first + i;
      fill(batch, i, epoch, order ? (*order)[static_cast<std::size_t>(place)] : place);
    }
    return batch;
  }

 private:
  void fill(Batch& batch, std::int64_t i, std::int64_t epoch, std::int64_t sample) const {
    const Image image = dataset_->image(sample);
    const ImageShape found = output_shape(augmentation_, image.shape);
    if (found != shape_) {
      throw Error(
          ErrorCode::data,
          fmt::format("sample {} is {} x {} x {}, the first one {} x {} x {}", sample, found.height,
                      found.width, found.channels, shape_.height, shape_.width, shape_.channels),
          "Pictures of different sizes need a crop.");
    }
    const RandomKey key =
        draws_.derive(static_cast<std::uint64_t>(epoch)).derive(static_cast<std::uint64_t>(sample));
    const auto place = static_cast<std::size_t>(i * shape_.elements());
    augment(image, augmentation_, key,
            std::span(batch.pixels).subspan(place, static_cast<std::size_t>(shape_.elements())));
    batch.labels[static_cast<std::size_t>(i)] = dataset_->label(sample);
  }

  std::shared_ptr<const Dataset> dataset_;
  Augmentation augmentation_;
  LoaderOptions options_;
  ImageShape shape_;
  RandomKey draws_;
  EpochOrders orders_;
};

}  // namespace

// Workers take the steps in order, each a whole batch, and leave the results by step; the trainer
// collects them in order. A result is a batch or what was thrown while making it.
struct Loader::Implementation {
  struct Result {
    Batch batch;
    std::exception_ptr error;
  };

  Implementation(std::shared_ptr<const Dataset> dataset, Augmentation augmentation,
                 const LoaderOptions& options)
      : maker(std::move(dataset), std::move(augmentation), options),
        window(std::max({options.prefetch, options.workers, 1})),
        next_step(options.first_step),
        next_taken(options.first_step) {
    require_memory(static_cast<std::uint64_t>(maker.batch_bytes() * static_cast<double>(window)),
                   fmt::format("preparing {} batches of {} pictures of {} x {} ahead", window,
                               options.batch_size, maker.shape().height, maker.shape().width),
                   "Lower data.batch_size, data.workers or the size of the pictures.");
    for (int i = 0; i < options.workers; ++i) {
      workers.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  // All are told to stop before the first is waited for.
  ~Implementation() {
    for (std::jthread& worker : workers) worker.request_stop();
  }

  void work(const std::stop_token& stop) {
    leave_places();
    std::unique_lock lock(mutex);
    const auto room = [this] { return next_taken < next_step + window; };
    while (can_work.wait(lock, stop, room)) {
      const std::int64_t step = next_taken++;
      Batch used = take_spare();
      lock.unlock();
      Result result = attempt(step, std::move(used));
      lock.lock();
      results[step] = std::move(result);
      has_result.notify_all();
    }
  }

  Batch take_spare() {
    if (spare.empty()) return {};
    Batch batch = std::move(spare.back());
    spare.pop_back();
    return batch;
  }

  Result attempt(std::int64_t step, Batch used) {
    try {
      return {maker.make(step, std::move(used)), nullptr};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }

  // A step that failed stays the next one, so that asking again fails again.
  Batch collect(Batch used) {
    std::unique_lock lock(mutex);
    if (used.pixels.capacity() > 0) spare.push_back(std::move(used));
    has_result.wait(lock, [this] { return results.contains(next_step); });
    if (const std::exception_ptr error = results[next_step].error) std::rethrow_exception(error);
    Batch batch = std::move(results.extract(next_step++).mapped().batch);
    lock.unlock();
    can_work.notify_one();
    return batch;
  }

  Batch make_here(Batch used) {
    Batch batch = maker.make(next_step, std::move(used));
    ++next_step;
    return batch;
  }

  BatchMaker maker;
  const std::int64_t window;  // steps that may be under way or waiting
  std::mutex mutex;
  std::condition_variable_any can_work;
  std::condition_variable has_result;
  std::int64_t next_step;   // the trainer gets next
  std::int64_t next_taken;  // a worker takes next
  std::map<std::int64_t, Result> results;
  std::vector<Batch> spare;
  std::vector<std::jthread> workers;  // last: joined before the rest goes
};

Loader::Loader(std::shared_ptr<const Dataset> dataset, Augmentation augmentation,
               LoaderOptions options) {
  require_usable(*dataset, options);
  implementation_ =
      std::make_unique<Implementation>(std::move(dataset), std::move(augmentation), options);
}

Loader::~Loader() = default;

std::int64_t Loader::steps_per_epoch() const {
  return implementation_->maker.steps_per_epoch();
}

Batch Loader::next(Batch used) {
  if (implementation_->workers.empty()) return implementation_->make_here(std::move(used));
  return implementation_->collect(std::move(used));
}

}  // namespace bitcycle
