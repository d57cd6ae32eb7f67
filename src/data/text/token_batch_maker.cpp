#include "data/text/token_batch_maker.h"

#include "bitcycle/base/error.h"

#include <cassert>

#include <fmt/format.h>

namespace bitcycle {

void require_positive(std::int64_t value, const std::string& what) {
  if (value >= 1) return;
  throw Error(ErrorCode::usage, fmt::format("expected a {} of at least 1, found {}", what, value));
}

std::int64_t pair_count(const TextSplit& split) {
  assert(split.tokens.size() >= 2);
  return static_cast<std::int64_t>(split.tokens.size()) - 1;
}

TokenBatch empty_batch(std::int64_t rows, std::int64_t columns, BatchStart start, TokenBatch used) {
  const auto count = static_cast<std::size_t>(rows * columns);
  used.rows = rows;
  used.columns = columns;
  used.inputs.resize(count);
  used.targets.assign(count, kNotScored);
  used.scored = 0;
  used.start = start;
  return used;
}

void put_pair(TokenBatch& batch, std::int64_t place, const TextSplit& split, std::int64_t pair,
              Scoring scoring) {
  const auto to = static_cast<std::size_t>(place);
  const auto from = static_cast<std::size_t>(pair);
  batch.inputs[to] = split.tokens[from];
  if (scoring == Scoring::seen_only) return;
  batch.targets[to] = split.tokens[from + 1];
  ++batch.scored;
}

}  // namespace bitcycle
