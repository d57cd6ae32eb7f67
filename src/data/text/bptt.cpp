#include "bitcycle/data/text/bptt.h"

#include "bitcycle/base/error.h"

#include "data/text/token_batch_maker.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Column c scores the pairs first(c) .. first(c + 1) - 1, as many as there are rows or one fewer.
struct Columns {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t stride;  // pairs from the beginning of a column to that of the next, at least
  std::int64_t longer;  // so many columns at the front have a pair more

  std::int64_t first(std::int64_t column) const {
    return column * stride + std::min(column, longer);
  }
  std::int64_t scored(std::int64_t column) const {
    return std::min(rows, stride + (column < longer ? 1 : 0));
  }
};

// Columns of as many tokens have one pair fewer: that across the border is left out.
Columns training_columns(const TextSplit& split, const BpttOptions& options) {
  const auto tokens = static_cast<std::int64_t>(split.tokens.size());
  const std::int64_t length = tokens / options.batch;
  if (length > options.window) return {options.batch, length - 1, length, 0};
  throw Error(
      ErrorCode::data,
      fmt::format("{} has {} tokens, cut into {} columns {} each: expected more than the {} of a "
                  "window",
                  split.origin, tokens, options.batch, length, options.window),
      "Use a longer text, a shorter window or a smaller batch.");
}

Columns evaluation_columns(const TextSplit& split, const BpttOptions& options) {
  const std::int64_t pairs = pair_count(split);
  const std::int64_t count = std::min(options.batch, pairs);
  const std::int64_t longer = pairs % count;
  return {count, pairs / count + (longer > 0 ? 1 : 0), pairs / count, longer};
}

class BpttBatches final : public TokenBatches {
 public:
  BpttBatches(std::shared_ptr<const TextSplit> split, const BpttOptions& options)
      : split_(std::move(split)),
        window_(options.window),
        columns_(options.use == TextUse::training ? training_columns(*split_, options)
                                                  : evaluation_columns(*split_, options)) {}

  std::int64_t steps_per_epoch() const override { return (columns_.rows + window_ - 1) / window_; }
  std::int64_t batch_tokens() const override {
    return std::min(window_, columns_.rows) * columns_.count;
  }
  std::int64_t tokens_per_epoch() const override { return columns_.rows * columns_.count; }
  std::int64_t scored_per_epoch() const override {
    return columns_.scored(0) * columns_.longer +
           columns_.scored(columns_.longer) * (columns_.count - columns_.longer);
  }

  TokenBatch make(std::int64_t step, TokenBatch used) const override {
    const std::int64_t top = step % steps_per_epoch() * window_;
    const std::int64_t rows = std::min(window_, columns_.rows - top);
    const BatchStart start = top == 0 ? BatchStart::epoch : BatchStart::ongoing;
    TokenBatch batch = empty_batch(rows, columns_.count, start, std::move(used));
    for (std::int64_t column = 0; column < columns_.count; ++column) {
      fill_column(batch, column, top);
    }
    return batch;
  }

 private:
  void fill_column(TokenBatch& batch, std::int64_t column, std::int64_t top) const {
    const std::int64_t first = columns_.first(column);
    const std::int64_t end = columns_.scored(column);
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      put_pair(batch, row * batch.columns + column, *split_, first + top + row,
               top + row < end ? Scoring::scored : Scoring::seen_only);
    }
  }

  std::shared_ptr<const TextSplit> split_;
  std::int64_t window_;
  Columns columns_;
};

}  // namespace

std::shared_ptr<const TokenBatches> bptt_batches(std::shared_ptr<const TextSplit> split,
                                                 const BpttOptions& options) {
  require_positive(options.batch, "batch size");
  require_positive(options.window, "window");
  return std::make_shared<BpttBatches>(std::move(split), options);
}

}  // namespace bitcycle
