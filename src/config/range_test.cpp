#include "bitcycle/config/range_test.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle {
namespace {

// Blocks come in the order top, low, low, top.
bool is_low(Step block) {
  return block % 4 == 1 || block % 4 == 2;
}

// Of a block behind one of another width the first half is left for the network to adapt.
Step unmeasured(Step block, Step steps) {
  return block % 2 == 1 ? steps / 2 : 0;
}

std::vector<LearnedPair> pairs_of(const std::vector<double>& blocks) {
  std::vector<LearnedPair> pairs;
  for (std::size_t i = 0; i + 1 < blocks.size(); i += 2) {
    const bool low_first = is_low(static_cast<Step>(i));
    pairs.push_back(low_first ? LearnedPair{blocks[i], blocks[i + 1]}
                              : LearnedPair{blocks[i + 1], blocks[i]});
  }
  return pairs;
}

}  // namespace

RangeTest::RangeTest(const RangeTestOptions& options)
    : options_(options), phases_{{0, Goal::warm_up, options.to, options.to}} {
  assert(options.from < options.to && options.block >= 2 && options.pairs >= kLeastPairs);
}

int RangeTest::bits() const {
  return bits_at(phases_, options_.block, steps_).value_or(options_.to);
}

void RangeTest::observe(double learned) {
  assert(!ended());
  const Step number = phase().goal == Goal::warm_up ? 0 : std::ssize(blocks_);
  if (block_.steps >= unmeasured(number, options_.block)) {
    block_.sum += learned;
    block_.squares += learned * learned;
    block_.count += 1;
  }
  ++block_.steps;
  ++steps_;
  if (block_.steps == options_.block) {
    end_block(block_);
    block_ = {};
  }
  if (ended() || steps_ < options_.limit) return;
  if (phase().goal != Goal::warm_up) results_.push_back(present_result());
  finish(End::limit, lower_so_far(), options_.to);
}

void RangeTest::end_block(const Block& block) {
  if (phase().goal == Goal::warm_up) return end_warm_up(block);
  blocks_.push_back(block.sum / block.count);
  judge();
}

void RangeTest::end_warm_up(const Block& block) {
  const double mean = block.sum / block.count;
  const double variance = std::max(0.0, block.squares - block.sum * mean) / (block.count - 1);
  const double error = std::sqrt(variance / block.count);
  const bool ready = options_.ready == 0 || (mean > 0 && mean >= options_.ready * error);
  if (ready) return begin(Goal::lower, options_.from);
  if (steps_ < kWarmUpBlocks * options_.block) return;
  finish(End::nothing_learned, options_.to, options_.to);
}

// In whole rounds of four blocks, in which progress cancels.
void RangeTest::judge() {
  if (blocks_.size() % 4 != 0) return;
  const Result result = present_result();
  if (result.found.pairs < kLeastPairs) return;
  if (result.judgement == Judgement::undecided && result.found.pairs + 2 <= options_.pairs) return;
  results_.push_back(result);
  go_on_after(result);
}

double RangeTest::threshold() const {
  return phase().goal == Goal::upper ? *options_.upper : options_.threshold;
}

RangeTest::Result RangeTest::present_result() const {
  Result result{
      .goal = phase().goal, .bits = phase().low, .found = paired_share(pairs_of(blocks_))};
  const double above = surely_above(result.found, threshold());
  result.sure = std::max(above, 1 - above);
  if (result.found.pairs >= kLeastPairs && result.sure >= options_.confidence) {
    result.judgement = above > 0.5 ? Judgement::good : Judgement::bad;
  }
  return result;
}

void RangeTest::begin(Goal goal, int bits) {
  phases_.push_back({steps_, goal, bits, options_.to});
  blocks_.clear();
}

// Widths are tried from below; the upper width is good enough without a test.
void RangeTest::go_on_after(const Result& result) {
  const bool good = result.judgement == Judgement::good;
  const bool last = result.bits + 1 == options_.to;
  if (!good && !last) return begin(result.goal, result.bits + 1);
  const int bound = good ? result.bits : options_.to;
  if (result.goal == Goal::upper) return finish(End::found, lower_so_far(), bound);
  if (options_.upper && bound < options_.to) return begin(Goal::upper, bound);
  finish(End::found, bound, options_.to);
}

void RangeTest::finish(End end, int lower, int upper) {
  phases_.push_back({steps_, Goal::schedule, lower, upper});
  blocks_.clear();
  end_ = end;
}

// Its test of the upper bound begins at the lower one.
int RangeTest::lower_so_far() const {
  const auto upper = std::ranges::find(phases_, Goal::upper, &Phase::goal);
  return upper == phases_.end() ? options_.to : upper->low;
}

bool RangeTest::decided() const {
  return end_ == End::found && std::ranges::none_of(results_, [](const Result& result) {
           return result.judgement == Judgement::undecided;
         });
}

Step RangeTest::least_steps(const RangeTestOptions& options) {
  return options.block * (1 + 2 * kLeastPairs);
}

Step RangeTest::most_steps(const RangeTestOptions& options) {
  const Step widths = (options.to - options.from) * (options.upper ? 2 : 1);
  return std::min(options.limit, options.block * (kWarmUpBlocks + 2 * options.pairs * widths));
}

std::optional<int> bits_at(const RangeTest::Phases& phases, Step block, Step step) {
  const auto after = std::ranges::upper_bound(phases, step, {}, &RangeTest::Phase::start);
  assert(after != phases.begin());
  const RangeTest::Phase& phase = *std::prev(after);
  if (phase.goal == RangeTest::Goal::schedule) return std::nullopt;
  return is_low((step - phase.start) / block) ? phase.low : phase.high;
}

}  // namespace bitcycle
