#include "bitcycle/data/text/windows.h"

#include "data/support.h"
#include "data/text/numbered_text.h"

#include <set>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;
using test::numbered_text;
using test::times_scored;
using Numbers = std::vector<std::int64_t>;
constexpr std::int64_t kNo = kNotScored;

TEST(WindowsTest, TheLastWindowEndsWithTheTextAndScoresWhatIsLeft) {
  const auto batches =
      window_batches(numbered_text(12), {.batch = 2, .window = 4, .use = TextUse::evaluation});
  ASSERT_EQ(batches->steps_per_epoch(), 2);
  const TokenBatch one = batches->make(0);
  EXPECT_EQ(one.inputs, (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(one.targets, (Numbers{1, 2, 3, 4, 5, 6, 7, 8}));
  const TokenBatch two = batches->make(1);
  EXPECT_EQ(two.rows, 1);
  EXPECT_EQ(two.inputs, (Numbers{7, 8, 9, 10}));
  EXPECT_EQ(two.targets, (Numbers{kNo, 9, 10, 11}));
}

TEST(WindowsTest, ContextIsSeenAndNotScored) {
  const auto batches = window_batches(
      numbered_text(12), {.batch = 9, .window = 5, .context = 3, .use = TextUse::evaluation});
  const TokenBatch batch = batches->make(0);
  ASSERT_EQ(batch.rows, 4);
  EXPECT_EQ(batch.inputs, (Numbers{0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 4, 5, 6, 7, 8, 6, 7, 8, 9, 10}));
  EXPECT_EQ(batch.targets, (Numbers{1,   2,   3,   4, 5, kNo, kNo, kNo, 6,  7,
                                    kNo, kNo, kNo, 8, 9, kNo, kNo, kNo, 10, 11}));
}

TEST(WindowsTest, AnEpochScoresEveryTokenButTheFirstOnceWhateverTheBatch) {
  for (const TextUse use : {TextUse::training, TextUse::evaluation}) {
    for (std::int64_t tokens : {9, 10, 17, 100}) {
      for (std::int64_t batch : {1, 3, 1000}) {
        for (std::int64_t context : {0, 1, 5, 7}) {
          const auto batches = window_batches(numbered_text(tokens), {batch, 8, context, use, 3});
          std::vector<int> expected(static_cast<std::size_t>(tokens), 1);
          expected[0] = 0;
          EXPECT_EQ(times_scored(*batches, tokens), expected);
          EXPECT_EQ(times_scored(*batches, tokens, 2), expected);
          EXPECT_EQ(batches->scored_per_epoch(), tokens - 1);
        }
      }
    }
  }
}

TEST(WindowsTest, WithContextEveryTokenIsPredictedFromAtLeastThatMuch) {
  const auto batches = window_batches(
      numbered_text(100), {.batch = 1, .window = 8, .context = 5, .use = TextUse::evaluation});
  for (std::int64_t step = 1; step < batches->steps_per_epoch(); ++step) {
    const TokenBatch batch = batches->make(step);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(batch.targets[i], kNo);
  }
}

TEST(WindowsTest, EveryEpochHasAnOrderOfItsOwnThatTheSeedDecides) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch) {
    const auto batches =
        window_batches(numbered_text(201), {.batch = 1, .window = 10, .seed = seed});
    Numbers firsts;
    for (std::int64_t i = 0; i < 20; ++i) firsts.push_back(batches->make(epoch * 20 + i).inputs[0]);
    return firsts;
  };
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_EQ((std::set{order(1, 0), order(1, 1), order(1, 2), order(2, 0)}).size(), 4u);
}

TEST(WindowsTest, AShortTextIsAnErrorInTrainingAndOneWindowInEvaluation) {
  expect_error([] { window_batches(numbered_text(8), {.window = 8}); }, ErrorCode::data,
               {"numbers.txt has 8 tokens", "more than the 8 of a window"});
  const auto batches = window_batches(
      numbered_text(4), {.batch = 3, .window = 8, .context = 5, .use = TextUse::evaluation});
  EXPECT_EQ(batches->steps_per_epoch(), 1);
  EXPECT_EQ(batches->make(0).targets, (Numbers{1, 2, 3}));
}

TEST(WindowsTest, ImpossibleSizesAreErrors) {
  const auto make = [](const WindowOptions& options) {
    return [options] { window_batches(numbered_text(100), options); };
  };
  expect_error(make({.batch = 0}), ErrorCode::usage, {"batch size", "found 0"});
  expect_error(make({.window = 0}), ErrorCode::usage, {"window", "found 0"});
  expect_error(make({.window = 8, .context = 8}), ErrorCode::usage, {"below the window of 8"});
  expect_error(make({.window = 8, .context = -1}), ErrorCode::usage, {"found -1"});
}

// The stream that a trainer sees, prepared ahead, is that of the function of the step.
TEST(WindowsTest, PrefetchedBatchesAreThoseOfTheirStep) {
  const auto batches = window_batches(numbered_text(301), {.batch = 3, .window = 10});
  for (int workers : {0, 1, 3}) {
    for (std::int64_t first : {0, 8, 13}) {
      Prefetcher<TokenBatch> prefetcher = prefetch(batches, {workers, 3, first});
      TokenBatch batch;
      for (std::int64_t step = first; step < first + 25; ++step) {
        batch = prefetcher.next(std::move(batch));
        const TokenBatch expected = batches->make(step);
        EXPECT_EQ(batch.inputs, expected.inputs);
        EXPECT_EQ(batch.targets, expected.targets);
        EXPECT_EQ(batch.rows, expected.rows);
        EXPECT_EQ(batch.start, expected.start);
      }
    }
  }
}

}  // namespace
}  // namespace bitcycle
