// A few of the kills of kill_campaign_test, and two processes that start in one directory.

#include "cli/killed_runs.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace bitcycle {
namespace {

// `count` of the interruptions, spread evenly.
std::vector<Interruption> few(const std::vector<Interruption>& all, std::size_t count) {
  std::vector<Interruption> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * (all.size() - 1) / (count - 1)]);
  return chosen;
}

TEST(KilledRunsTest, ARunKilledAtAFewCallsIsTheSameOnceResumed) {
  KilledRuns runs;
  const auto all = KilledRuns::interruptions(changes());
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), few(all, 10)), "");
}

TEST(KilledRunsTest, SoIsALanguageModelThatCarriesItsState) {
  KilledRuns runs(Trained::text);
  const auto all = KilledRuns::interruptions(changes());
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), few(all, 20)), "");
}

TEST(KilledRunsTest, SoIsALanguageModelThatIsKilledAtRandomMoments) {
  KilledRuns runs(Trained::text);
  EXPECT_EQ(runs.kill_at_random_moments(20), "");
}

TEST(KilledRunsTest, SoIsARunWhosePrecisionFollowsItsLoss) {
  KilledRuns runs(Trained::stages);
  EXPECT_NE(runs.whole().at("summary.json").find("\"to\": \"8/8\""), std::string::npos);
  const auto all = KilledRuns::interruptions(changes());
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), few(all, 20)), "");
}

TEST(KilledRunsTest, SoIsARunWhosePrecisionGatesChoose) {
  KilledRuns runs(Trained::gates);
  EXPECT_NE(runs.whole().at("metrics.jsonl").find("\"choices\":"), std::string::npos);
  const auto all = KilledRuns::interruptions(changes());
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), few(all, 20)), "");
}

TEST(KilledRunsTest, SoIsARunWhoseGatesHaveATargetThatFollowsItsLoss) {
  KilledRuns runs(Trained::gated_stages);
  EXPECT_NE(runs.whole().at("summary.json").find("\"to\": \"cp 4 %\""), std::string::npos);
  const auto all = KilledRuns::interruptions(changes());
  EXPECT_EQ(runs.kill_and_resume(runs.run("none"), few(all, 20)), "");
}

TEST(KilledRunsTest, OfTwoStartsInOneDirectoryTheSecondIsRefusedEvenIfItLookedFirst) {
  KilledRuns runs;
  const auto run = runs.run("contested");
  const pid_t waiting = runs.start(run, Start::afresh, {.call = 1, .signal = SIGSTOP});
  int status = 0;
  ASSERT_EQ(::waitpid(waiting, &status, WUNTRACED), waiting);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(runs.train(run, Start::afresh), kFinished);
  ::kill(waiting, SIGCONT);
  EXPECT_EQ(KilledRuns::end(waiting), End{.status = 2});
  EXPECT_EQ(difference(runs.whole(), content(run)), "");
}

}  // namespace
}  // namespace bitcycle
