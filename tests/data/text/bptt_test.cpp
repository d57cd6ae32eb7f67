#include "bitcycle/data/text/bptt.h"

#include "data/support.h"
#include "data/text/numbered_text.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using test::expect_error;
using test::numbered_text;
using test::text_of;
using test::times_scored;
using Numbers = std::vector<std::int64_t>;

// Stream, layout and both windows are those of an independent implementation.
TEST(BpttTest, LaysTheTextOutInColumnsAsTheReferenceDoes) {
  const auto text = text_of({1,  23, 19, 16, 23, 7,  25, 10, 29, 9,  10, 11, 9,  24, 5,  2,
                             27, 11, 6,  23, 21, 22, 22, 18, 29, 3,  23, 10, 20, 26, 13, 29,
                             6,  21, 4,  4,  1,  26, 5,  4,  13, 10, 7,  10, 9,  11, 19});
  const auto batches = bptt_batches(text, {.batch = 3, .window = 7});
  ASSERT_EQ(batches->steps_per_epoch(), 2);
  const TokenBatch one = batches->make(0);
  EXPECT_EQ(one.rows, 7);
  EXPECT_EQ(one.columns, 3);
  EXPECT_EQ(one.inputs,
            (Numbers{1, 2, 13, 23, 27, 29, 19, 11, 6, 16, 6, 21, 23, 23, 4, 7, 21, 4, 25, 22, 1}));
  EXPECT_EQ(one.targets, (Numbers{23, 27, 29, 19, 11, 6,  16, 6,  21, 23, 23,
                                  4,  7,  21, 4,  25, 22, 1,  10, 22, 26}));
  const TokenBatch two = batches->make(1);
  EXPECT_EQ(two.inputs, (Numbers{10, 22, 26, 29, 18, 5,  9, 29, 4,  10, 3,
                                 13, 11, 23, 10, 9,  10, 7, 24, 20, 10}));
  EXPECT_EQ(two.targets,
            (Numbers{29, 18, 5, 9, 29, 4, 10, 3, 13, 11, 23, 10, 9, 10, 7, 24, 20, 10, 5, 26, 9}));
}

// 929,589 tokens in 20 columns of 46,479: 1327 windows of 35 rows, and one of 33.
TEST(BpttTest, PennTreebankHasItsKnownNumberOfSteps) {
  const auto batches = bptt_batches(numbered_text(929'589), {.batch = 20, .window = 35});
  EXPECT_EQ(batches->steps_per_epoch(), 1328);
  EXPECT_EQ(batches->make(1326).rows, 35);
  EXPECT_EQ(batches->make(1327).rows, 33);
  EXPECT_EQ(batches->scored_per_epoch(), 20 * 46'478);
}

TEST(BpttTest, StateBeginsAtZeroWithEveryEpoch) {
  const auto batches = bptt_batches(numbered_text(60), {.batch = 2, .window = 10});
  ASSERT_EQ(batches->steps_per_epoch(), 3);
  for (std::int64_t step = 0; step < 9; ++step) {
    const TokenBatch batch = batches->make(step);
    EXPECT_EQ(batch.start, step % 3 == 0 ? BatchStart::epoch : BatchStart::ongoing);
    EXPECT_EQ(batch.inputs, batches->make(step % 3).inputs);
  }
}

TEST(BpttTest, EvaluationScoresEveryTokenButTheFirstOnceWhateverTheBatch) {
  for (std::int64_t tokens : {2, 3, 24, 25, 101}) {
    for (std::int64_t batch : {1, 2, 3, 7, 10, 1000}) {
      for (std::int64_t window : {1, 4, 35}) {
        const auto batches =
            bptt_batches(numbered_text(tokens), {batch, window, TextUse::evaluation});
        std::vector<int> expected(static_cast<std::size_t>(tokens), 1);
        expected[0] = 0;
        EXPECT_EQ(times_scored(*batches, tokens), expected) << tokens << " in " << batch;
        EXPECT_EQ(batches->scored_per_epoch(), tokens - 1);
      }
    }
  }
}

// Rows of a column go on where those of the batch before ended, in training and in evaluation.
TEST(BpttTest, ColumnsGoOnFromBatchToBatch) {
  for (const TextUse use : {TextUse::training, TextUse::evaluation}) {
    const auto batches = bptt_batches(numbered_text(101), {4, 6, use});
    TokenBatch before = batches->make(0);
    for (std::int64_t step = 1; step < batches->steps_per_epoch(); ++step) {
      const TokenBatch batch = batches->make(step);
      for (std::size_t column = 0; column < 4; ++column) {
        EXPECT_EQ(batch.inputs[column], before.inputs[20 + column] + 1);
      }
      before = batch;
    }
  }
}

TEST(BpttTest, AWindowLongerThanTheTextIsAnError) {
  expect_error([] { bptt_batches(numbered_text(70), {.batch = 2, .window = 35}); }, ErrorCode::data,
               {"numbers.txt has 70 tokens", "2 columns 35 each", "35 of a window"});
  EXPECT_EQ(bptt_batches(numbered_text(72), {.batch = 2, .window = 35})->steps_per_epoch(), 1);
  expect_error([] { bptt_batches(numbered_text(9), {.batch = 1000, .window = 1}); },
               ErrorCode::data, {"1000 columns 0 each"});
}

TEST(BpttTest, ImpossibleSizesAreErrors) {
  expect_error([] { bptt_batches(numbered_text(70), {.batch = 0}); }, ErrorCode::usage,
               {"batch size", "found 0"});
  expect_error([] { bptt_batches(numbered_text(70), {.batch = 1, .window = -3}); },
               ErrorCode::usage, {"window", "found -3"});
}

}  // namespace
}  // namespace bitcycle
