#include "bitcycle/data/text/windows.h"

#include "bitcycle/base/error.h"

#include "data/epoch_orders.h"
#include "data/text/token_batch_maker.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Window w sees the pairs first(w) .. first(w) + length - 1 and scores them from scored(w) on. The
// windows but the first score length - context pairs each, the last one what is left.
struct Windows {
  std::int64_t pairs;
  std::int64_t length;
  std::int64_t context;

  std::int64_t stride() const { return length - context; }
  std::int64_t count() const { return 1 + (pairs - length + stride() - 1) / stride(); }
  std::int64_t first(std::int64_t window) const {
    return std::min(window * stride(), pairs - length);
  }
  std::int64_t scored(std::int64_t window) const {
    return window == 0 ? 0 : window * stride() + context;
  }
};

void require_possible(const WindowOptions& options) {
  require_positive(options.batch, "batch size");
  require_positive(options.window, "window");
  if (options.context >= 0 && options.context < options.window) return;
  throw Error(ErrorCode::usage,
              fmt::format("expected a context from 0 to below the window of {}, found {}",
                          options.window, options.context));
}

Windows cut(const TextSplit& split, const WindowOptions& options) {
  const std::int64_t pairs = pair_count(split);
  if (pairs >= options.window) return {pairs, options.window, options.context};
  if (options.use == TextUse::evaluation) return {pairs, pairs, 0};
  throw Error(ErrorCode::data,
              fmt::format("{} has {} tokens: expected more than the {} of a window", split.origin,
                          pairs + 1, options.window),
              "Use a longer text or a shorter window.");
}

class WindowBatches final : public TokenBatches {
 public:
  WindowBatches(std::shared_ptr<const TextSplit> split, const WindowOptions& options)
      : split_(std::move(split)),
        windows_(cut(*split_, options)),
        batch_(std::min(options.batch, windows_.count())),
        use_(options.use),
        orders_(windows_.count(), RandomKey(options.seed).derive("shuffle")) {}

  std::int64_t steps_per_epoch() const override { return (windows_.count() + batch_ - 1) / batch_; }
  std::int64_t batch_tokens() const override { return batch_ * windows_.length; }
  std::int64_t tokens_per_epoch() const override { return windows_.count() * windows_.length; }
  std::int64_t scored_per_epoch() const override { return windows_.pairs; }

  TokenBatch make(std::int64_t step, TokenBatch used) const override {
    const std::int64_t epoch = step / steps_per_epoch();
    const std::int64_t place = step % steps_per_epoch() * batch_;
    const std::int64_t rows = std::min(batch_, windows_.count() - place);
    const BatchStart start = place == 0 ? BatchStart::epoch : BatchStart::ongoing;
    const auto order = use_ == TextUse::training ? orders_.of(epoch) : nullptr;
    TokenBatch batch = empty_batch(rows, windows_.length, start, std::move(used));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t window = place + row;
      fill_row(batch, row, order ? (*order)[static_cast<std::size_t>(window)] : window);
    }
    return batch;
  }

 private:
  void fill_row(TokenBatch& batch, std::int64_t row, std::int64_t window) const {
    const std::int64_t first = windows_.first(window);
    const std::int64_t scored = windows_.scored(window);
    for (std::int64_t column = 0; column < batch.columns; ++column) {
      const std::int64_t pair = first + column;
      put_pair(batch, row * batch.columns + column, *split_, pair,
               pair < scored ? Scoring::seen_only : Scoring::scored);
    }
  }

  std::shared_ptr<const TextSplit> split_;
  Windows windows_;
  std::int64_t batch_;
  TextUse use_;
  mutable EpochOrders orders_;
};

}  // namespace

std::shared_ptr<const TokenBatches> window_batches(std::shared_ptr<const TextSplit> split,
                                                   const WindowOptions& options) {
  require_possible(options);
  return std::make_shared<WindowBatches>(std::move(split), options);
}

}  // namespace bitcycle
