// The range test on networks that are made up.

#include "bitcycle/config/range_test.h"

#include "bitcycle/base/error.h"

#include "config/made_up_network.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;
using Goal = RangeTest::Goal;
using Judgement = RangeTest::Judgement;
using End = RangeTest::End;

// How often of `count` networks the test of the lowest width came to each judgement.
std::map<Judgement, int> judgements(double share, int count) {
  std::map<Judgement, int> found;
  for (int seed = 0; seed < count; ++seed) {
    ++found[tested(MadeUpNetwork(static_cast<std::uint64_t>(seed), {{2, share}}))
                .results()
                .front()
                .judgement];
  }
  return found;
}

TEST(RangeTestTest, BlocksComeInTheOrderTopLowLowTop) {
  const RangeTestOptions options{.from = 3, .to = 6, .block = 2, .ready = 0};
  RangeTest test(options);
  std::string bits;
  // Steps without noise: the top learns 0.5, three bits keep all of it.
  while (!test.ended()) {
    bits += std::to_string(test.bits());
    test.observe(0.5);
  }
  EXPECT_EQ(bits,
            "66"
            "66333366"
            "66333366");
  EXPECT_EQ(test.lower(), 3);
  EXPECT_EQ(test.upper(), 6);
  EXPECT_TRUE(test.decided());
  EXPECT_EQ(test.steps(), RangeTest::least_steps(options));
  EXPECT_EQ(test.results().front().found.pairs, 4);
  EXPECT_EQ(test.bits(), 6);
}

TEST(RangeTestTest, EarlierStepsKeepTheBitsThatTheyHad) {
  MadeUpNetwork network(1, {{2, 0.1}, {3, 0.6}});
  RangeTest test({});
  std::vector<int> bits;
  while (!test.ended()) {
    bits.push_back(test.bits());
    test.observe(network.step(test.bits()));
  }
  for (std::size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(bits_at(test.phases(), 20, static_cast<Step>(i)), bits[i]) << i;
  }
  EXPECT_EQ(bits_at(test.phases(), 20, test.steps()), std::nullopt);
}

// Progress alone, which would make every later block look better, leaves the share as it is.
TEST(RangeTestTest, SteadyProgressCancels) {
  for (const double share : {0.5, 0.9}) {
    RangeTest test({.from = 2, .to = 3, .block = 20, .ready = 0});
    for (Step step = 0; !test.ended(); ++step) {
      const double top = 0.2 + 0.001 * static_cast<double>(step);
      test.observe(test.bits() == 2 ? share * top : top);
    }
    EXPECT_NEAR(test.results().front().found.share.value, share, 0.003);
    EXPECT_EQ(test.lower(), share > 0.87 ? 2 : 3);
  }
}

TEST(RangeTestTest, TheFirstHalfOfABlockAtAnotherWidthIsNotMeasured) {
  RangeTest test({.from = 2, .to = 3, .block = 4, .ready = 0});
  std::vector<int> bits = {3};
  while (!test.ended()) {
    const std::size_t n = bits.size();
    bits.push_back(test.bits());
    const bool adapting = bits[n] != bits[n - 1] || (n > 1 && bits[n] != bits[n - 2]);
    test.observe(adapting ? -100 : bits[n] == 2 ? 0.45 : 0.5);
  }
  EXPECT_DOUBLE_EQ(test.results().front().found.share.value, 0.9);
}

TEST(RangeTestTest, AShareATenthFromTheThresholdIsNeverMisjudged) {
  const auto low = judgements(0.77, 400), high = judgements(0.97, 400);
  EXPECT_EQ(low.count(Judgement::good), 0U);
  EXPECT_EQ(high.count(Judgement::bad), 0U);
  EXPECT_GE(low.at(Judgement::bad), 380);
  EXPECT_GE(high.at(Judgement::good), 380);
}

// At the threshold itself there is no right answer: most are left undecided.
TEST(RangeTestTest, AShareAtTheThresholdIsMostlyUndecided) {
  auto found = judgements(0.87, 200);
  EXPECT_GE(found[Judgement::undecided], 150);
  EXPECT_LE(found[Judgement::good], 25);
  EXPECT_LE(found[Judgement::bad], 25);
}

TEST(RangeTestTest, SeedsAgreeWhereWidthsAreApart) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RangeTest test = tested(MadeUpNetwork(seed, {{2, 0.2}, {3, 0.6}, {4, 0.95}}));
    ASSERT_EQ(test.lower(), 4) << seed;
    ASSERT_TRUE(test.decided()) << seed;
    ASSERT_LT(test.steps(), 2000) << seed;
  }
}

TEST(RangeTestTest, AnUndecidedWidthCountsAsTooLowAndIsTold) {
  int undecided = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RangeTest test = tested(MadeUpNetwork(seed, {{2, 0.87}}));
    const Judgement first = test.results().front().judgement;
    EXPECT_EQ(test.lower(), first == Judgement::good ? 2 : 3);
    EXPECT_EQ(test.decided(), first != Judgement::undecided);
    undecided += first == Judgement::undecided;
  }
  EXPECT_GT(undecided, 0);
}

TEST(RangeTestTest, WhereNoWidthIsGoodTheUpperOneIsTheBound) {
  const RangeTest test = tested(MadeUpNetwork(1, {{2, 0}, {3, 0.1}}), {.from = 2, .to = 4});
  EXPECT_EQ(test.lower(), 4);
  EXPECT_TRUE(test.decided());
  EXPECT_EQ(test.results().size(), 2U);
}

TEST(RangeTestTest, ANetworkThatLearnsNothingIsNotTested) {
  const RangeTestOptions options{.block = 20};
  RangeTest test(options);
  const RandomKey key(3);
  for (std::uint64_t i = 0; !test.ended(); ++i) test.observe(0.02 * key.normal(i));
  EXPECT_EQ(test.end(), End::nothing_learned);
  EXPECT_EQ(test.lower(), 8);
  EXPECT_FALSE(test.decided());
  EXPECT_EQ(test.steps(), RangeTest::kWarmUpBlocks * 20);
}

TEST(RangeTestTest, BeginsOnceTheTopIsClearlyAboveChance) {
  const RangeTest test = tested(MadeUpNetwork(1, {}));
  const RangeTest::Phase& first = test.phases()[1];
  EXPECT_EQ(first.goal, Goal::lower);
  EXPECT_GT(first.start, 20);   // a block does not suffice,
  EXPECT_LT(first.start, 400);  // nor is the plateau waited for
  EXPECT_EQ(first.start % 20, 0);
}

TEST(RangeTestTest, EndsAtItsLimitWithTheSafeBound) {
  for (const Step limit : {1, 30, 200, 333, 500}) {
    const RangeTest test = tested(MadeUpNetwork(1, {{2, 0.87}, {3, 0.87}}), {.limit = limit});
    EXPECT_EQ(test.end(), End::limit);
    EXPECT_EQ(test.steps(), limit);
    EXPECT_EQ(test.lower(), 8);
    EXPECT_FALSE(test.decided());
  }
}

TEST(RangeTestTest, AnUpperBoundIsFoundBehindTheLowerOne) {
  RangeTestOptions options{.threshold = 0.8, .upper = 0.9};
  const std::map<int, double> shares = {{2, 0.1}, {3, 0.85}, {4, 0.86}, {5, 1}};
  int found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RangeTest test = tested(MadeUpNetwork(seed, shares), options);
    EXPECT_LE(test.lower(), test.upper());
    found += test.lower() == 3 && test.upper() == 5;
  }
  EXPECT_GE(found, 20);
  // A limit that comes in the search of the upper bound leaves the lower one.
  const RangeTest whole = tested(MadeUpNetwork(2, {{2, 0.1}}), options);
  const auto upper = std::ranges::find(whole.phases(), Goal::upper, &RangeTest::Phase::goal);
  options.limit = upper->start + 10;
  const RangeTest cut = tested(MadeUpNetwork(2, {{2, 0.1}}), options);
  EXPECT_EQ(cut.lower(), 3);
  EXPECT_EQ(cut.upper(), 8);
  EXPECT_EQ(cut.end(), End::limit);
}

TEST(RangeTestTest, NoTestIsLongerThanTheLongest) {
  for (const std::optional<double> upper : {std::optional<double>(), std::optional(0.97)}) {
    const RangeTestOptions options{.from = 2, .to = 5, .upper = upper};
    const RangeTest test = tested(MadeUpNetwork(5, {{2, 0.87}, {3, 0.87}, {4, 0.97}}), options);
    EXPECT_LE(test.steps(), RangeTest::most_steps(options));
    EXPECT_GE(test.steps(), RangeTest::least_steps(options));
  }
}

TEST(RangeTestTest, GoesOnFromItsStateAtEveryStep) {
  const RangeTestOptions options{.from = 2, .to = 5, .upper = 0.9, .block = 6};
  MadeUpNetwork network(4, {{2, 0.3}, {3, 0.85}, {4, 0.95}});
  RangeTest whole(options);
  PolicyState carried = whole.state();
  while (!whole.ended()) {
    RangeTest resumed(options);
    resumed.restore(carried);
    ASSERT_EQ(resumed.bits(), whole.bits());
    const double learned = network.step(whole.bits());
    whole.observe(learned);
    resumed.observe(learned);
    carried = resumed.state();
    ASSERT_EQ(carried, whole.state()) << whole.steps();
    ASSERT_EQ(resumed.phases(), whole.phases());
    ASSERT_EQ(resumed.results(), whole.results());
  }
  RangeTest ended(options);
  ended.restore(carried);
  EXPECT_EQ(ended.lower(), whole.lower());
  EXPECT_EQ(ended.end(), whole.end());
}

TEST(RangeTestTest, StatesOfOtherTestsAreRefused) {
  const RangeTest test = tested(MadeUpNetwork(1, {{2, 0.1}}));
  const auto complaint = [&](const std::string& name, const std::vector<double>& values) {
    PolicyState state = test.state();
    state[name] = values;
    try {
      RangeTest({}).restore(state);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::checkpoint);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(complaint("blocks", {0.5}), "accepted");
  EXPECT_THAT(complaint("phases", {}), HasSubstr("phases that begin with the first step"));
  EXPECT_THAT(complaint("phases", {1, 0, 8, 8}), HasSubstr("begin with the first step"));
  EXPECT_THAT(complaint("phases", {0, 0, 8}), HasSubstr("rows of 4 numbers as \"phases\""));
  EXPECT_THAT(complaint("phases", {0, 0, 8, 8, 20, 1, 9, 8}), HasSubstr("from 2 to 8, found 9"));
  EXPECT_THAT(complaint("phases", {0, 0, 8, 8, 20, 7, 2, 8}), HasSubstr("from 0 to 3, found 7"));
  EXPECT_THAT(complaint("results", {1}), HasSubstr("rows of 11 numbers as \"results\""));
  EXPECT_THAT(complaint("block", {1, 2}), HasSubstr("as \"block\""));
  EXPECT_THAT(complaint("test", {3, 1}), HasSubstr("as \"test\""));
  EXPECT_THAT(complaint("test", {1e6, 9}), HasSubstr("from 0 to 3, found 9"));
  EXPECT_THROW(RangeTest({}).restore({}), Error);
}

}  // namespace
}  // namespace bitcycle
