// A run, and the resume of a run, killed at every call that changes the run directory and amid
// every write, and killed at random moments: once resumed to its end it has the same files with the
// same bytes as a run that was left alone, and no others.

#include "bitcycle/base/random.h"

#include "cli/killed_runs.h"

#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>
#include <unistd.h>

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

// Kills runs, each until it finishes all the same, until so many kills are done.
void kill_at_random_moments(KilledRuns& runs, int wanted) {
  const RandomKey key(2024);
  const double longest = 1e6 * runs.whole_seconds();
  int kills = 0;
  for (std::uint64_t start = 0, run = 0; kills < wanted; ++run) {
    const auto directory = runs.run("random" + std::to_string(run));
    End end{.signal = SIGKILL};
    while (end.signal == SIGKILL) {
      const pid_t process = runs.start(directory, Start::resume);
      ::usleep(static_cast<useconds_t>(longest * key.uniform(start++)));
      ::kill(process, SIGKILL);
      end = KilledRuns::end(process);
      kills += end.signal == SIGKILL ? 1 : 0;
    }
    ASSERT_EQ(end, kFinished);
    ASSERT_EQ(difference(runs.whole(), content(directory)), "") << "after " << kills << " kills";
    std::filesystem::remove_all(directory);
  }
  std::cout << kills << " kills\n";
}

TEST(KillCampaignTest, RunsMayBeKilledAtRandomMoments) {
  KilledRuns runs;
  kill_at_random_moments(runs, 100);
}

TEST(KillCampaignTest, RunsWhosePrecisionFollowsTheirLossMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::stages);
  kill_at_random_moments(runs, 20);
}

TEST(KillCampaignTest, RunsWhosePrecisionGatesChooseMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::gates);
  kill_at_random_moments(runs, 20);
}

TEST(KillCampaignTest, RunsWhoseGatesHaveATargetThatFollowsTheLossMayBeKilledAtRandomMoments) {
  KilledRuns runs(Trained::gated_stages);
  kill_at_random_moments(runs, 20);
}

}  // namespace
}  // namespace bitcycle
