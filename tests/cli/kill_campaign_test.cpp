// A run, and the resume of a run, killed at every call that changes the run directory and amid
// every write, and killed at random moments: once resumed to its end it has the same files with the
// same bytes as a run that was left alone, and no others.

#include "cli/killed_runs.h"

#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(KillCampaignTest, AFirstRunMayBeKilledAtEveryCall) {
  KilledRuns runs;
  const auto all = KilledRuns::interruptions(changes());
  std::cout << all.size() << " kills, " << changes().size() << " calls\n";
  ASSERT_GE(all.size(), 100U);
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), all), "");
}

// The run is first killed in its middle, where a checkpoint loses its name: between save and prune.
TEST(KillCampaignTest, AResumeMayBeKilledAtEveryCall) {
  KilledRuns runs;
  const auto calls = changes();
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(calls.size() / 3);
  const auto removal = std::find(middle, calls.end(), "unlinkat");
  ASSERT_NE(removal, calls.end());
  const auto before = runs.run("before");
  const int call = static_cast<int>(removal - calls.begin()) + 1;
  ASSERT_EQ(runs.train(before, Start::afresh, {.call = call}), End{.signal = SIGKILL});
  const auto copy = runs.run("copy");
  std::filesystem::copy(before, copy, std::filesystem::copy_options::recursive);
  ASSERT_EQ(runs.train(copy, Start::resume), kFinished);
  const auto all = KilledRuns::interruptions(changes());
  std::cout << all.size() << " kills, " << changes().size() << " calls\n";
  ASSERT_GE(all.size(), 60U);
  EXPECT_EQ(runs.kill_and_resume(before, all), "");
}

TEST(KillCampaignTest, RunsMayBeKilledAtRandomMoments) {
  KilledRuns runs;
  EXPECT_EQ(runs.kill_at_random_moments(100), "");
}

TEST(KillCampaignTest, LanguageModelsThatCarryTheirStateMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::text);
  EXPECT_EQ(runs.kill_at_random_moments(100), "");
}

TEST(KillCampaignTest, RunsWhosePrecisionFollowsTheirLossMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::stages);
  EXPECT_EQ(runs.kill_at_random_moments(20), "");
}

TEST(KillCampaignTest, RunsWhosePrecisionGatesChooseMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::gates);
  EXPECT_EQ(runs.kill_at_random_moments(20), "");
}

TEST(KillCampaignTest, RunsWhoseGatesHaveATargetThatFollowsTheLossMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::gated_stages);
  EXPECT_EQ(runs.kill_at_random_moments(20), "");
}

}  // namespace
}  // namespace bitcycle
