// A range test in a checkpoint.

#include "bitcycle/config/range_test.h"

#include "config/policy_state.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::size_t kPhaseNumbers = 4, kResultNumbers = 11;

using Numbers = std::vector<double>;

void append(Numbers& numbers, std::initializer_list<double> more) {
  numbers.insert(numbers.end(), more);
}

Numbers numbers_of(const RangeTest::Phases& phases) {
  Numbers numbers;
  for (const RangeTest::Phase& phase : phases) {
    append(numbers, {static_cast<double>(phase.start), static_cast<double>(phase.goal),
                     static_cast<double>(phase.low), static_cast<double>(phase.high)});
  }
  return numbers;
}

Numbers numbers_of(const std::vector<RangeTest::Result>& results) {
  Numbers numbers;
  for (const RangeTest::Result& result : results) {
    const auto& [pairs, share, low, high] = result.found;
    append(numbers, {static_cast<double>(result.goal), static_cast<double>(result.bits),
                     static_cast<double>(result.judgement), static_cast<double>(pairs), share.value,
                     share.error, low.value, low.error, high.value, high.error, result.sure});
  }
  return numbers;
}

// Of an enumeration, a width or the like: a whole number between bounds.
int whole(const PolicyStateReader& reader, double value, int least, int most) {
  if (is_count(value) && value >= least && value <= most) return static_cast<int>(value);
  reader.refuse(
      fmt::format("expected a whole number from {} to {}, found {:g}", least, most, value));
}

RangeTest::Phase phase_of(const PolicyStateReader& reader, const double* numbers,
                          const RangeTestOptions& options) {
  if (!is_count(numbers[0])) reader.refuse("expected steps at which its phases begin");
  return {static_cast<Step>(numbers[0]),
          static_cast<RangeTest::Goal>(
              whole(reader, numbers[1], 0, static_cast<int>(RangeTest::Goal::schedule))),
          whole(reader, numbers[2], options.from, options.to),
          whole(reader, numbers[3], options.from, options.to)};
}

RangeTest::Result result_of(const PolicyStateReader& reader, const double* numbers,
                            const RangeTestOptions& options) {
  return {.goal = static_cast<RangeTest::Goal>(
              whole(reader, numbers[0], 0, static_cast<int>(RangeTest::Goal::schedule))),
          .bits = whole(reader, numbers[1], options.from, options.to),
          .judgement = static_cast<RangeTest::Judgement>(
              whole(reader, numbers[2], 0, static_cast<int>(RangeTest::Judgement::undecided))),
          .found = {.pairs = whole(reader, numbers[3], 0, options.pairs),
                    .share = {numbers[4], numbers[5]},
                    .low = {numbers[6], numbers[7]},
                    .high = {numbers[8], numbers[9]}},
          .sure = numbers[10]};
}

template <typename Row, typename RowOf>
std::vector<Row> rows_of(const Numbers& numbers, std::size_t width, const RowOf& row_of) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < numbers.size(); i += width) rows.push_back(row_of(&numbers[i]));
  return rows;
}

}  // namespace

PolicyState RangeTest::state() const {
  return {{"phases", numbers_of(phases_)},
          {"results", numbers_of(results_)},
          {"blocks", blocks_},
          {"block", {static_cast<double>(block_.steps), block_.sum, block_.squares, block_.count}},
          {"test", {static_cast<double>(steps_), static_cast<double>(end_)}}};
}

void RangeTest::restore(const PolicyState& state) {
  const PolicyStateReader reader(state, "the range test");
  Phases phases = rows_of<Phase>(reader.rows("phases", kPhaseNumbers), kPhaseNumbers,
                                 [&](const double* n) { return phase_of(reader, n, options_); });
  const Numbers &block = reader.part("block"), &test = reader.part("test");
  if (phases.empty() || phases.front() != phases_.front() ||
      !std::ranges::is_sorted(phases, {}, &Phase::start)) {
    reader.refuse("expected phases that begin with the first step");
  }
  if (block.size() != 4 || !is_count(block[0]) || !is_count(block[3])) {
    reader.refuse("expected a count, two sums and a count as \"block\"");
  }
  if (test.size() != 2 || !is_count(test[0]) || static_cast<Step>(test[0]) < phases.back().start) {
    reader.refuse("expected the steps and the end of the test as \"test\"");
  }
  results_ = rows_of<Result>(reader.rows("results", kResultNumbers), kResultNumbers,
                             [&](const double* n) { return result_of(reader, n, options_); });
  phases_ = std::move(phases);
  blocks_ = reader.part("blocks");
  block_ = {static_cast<Step>(block[0]), block[1], block[2], block[3]};
  steps_ = static_cast<Step>(test[0]);
  end_ = static_cast<End>(whole(reader, test[1], 0, static_cast<int>(End::nothing_learned)));
}

}  // namespace bitcycle
