#include "bitcycle/data/loader.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/memory.h"
#include "bitcycle/base/random.h"
#include "bitcycle/data/prefetcher.h"

#include "data/epoch_orders.h"

#include <algorithm>

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

struct Loader::Implementation {
  Implementation(std::shared_ptr<const Dataset> dataset, Augmentation augmentation,
                 const LoaderOptions& options)
      : maker(std::move(dataset), std::move(augmentation), options),
        prefetcher(
            [this](std::int64_t step, Batch used) { return maker.make(step, std::move(used)); },
            checked(options)) {}

  // Compared with what memory there is before the first worker starts.
  PrefetchOptions checked(const LoaderOptions& options) const {
    const PrefetchOptions prefetch{options.workers, options.prefetch, options.first_step};
    const std::int64_t ahead = steps_ahead(prefetch);
    require_memory(static_cast<std::uint64_t>(maker.batch_bytes() * static_cast<double>(ahead)),
                   fmt::format("preparing {} batches of {} pictures of {} x {} ahead", ahead,
                               options.batch_size, maker.shape().height, maker.shape().width),
                   "Lower data.batch_size, data.workers or the size of the pictures.");
    return prefetch;
  }

  BatchMaker maker;
  Prefetcher<Batch> prefetcher;
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
  return implementation_->prefetcher.next(std::move(used));
}

}  // namespace bitcycle
