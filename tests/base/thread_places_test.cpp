#include "bitcycle/base/thread_places.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace {

// Numbers that no machine has, another set in each process, so that neither tests that run side by
// side nor runs of Bitcycle meet these claims.
int made_up(int core) {
  return 1'000'000 + 100 * static_cast<int>(::getpid()) + core;
}

std::vector<ProcessorCore> made_up_cores(int count) {
  std::vector<ProcessorCore> cores;
  for (int i = 0; i < count; ++i) cores.push_back({made_up(i), {i, i + count}});
  return cores;
}

TEST(CoreClaimTest, ACoreIsHeldByOneAtATime) {
  {
    const auto first = CoreClaim::of(made_up(0));
    ASSERT_TRUE(first);
    EXPECT_FALSE(CoreClaim::of(made_up(0)));
    EXPECT_TRUE(CoreClaim::of(made_up(1)));
  }
  EXPECT_TRUE(CoreClaim::of(made_up(0)));
}

// By exec into another program it stays; a kill ends it.
TEST(CoreClaimTest, LastsAsLongAsTheProcess) {
  const int core = made_up(7);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto claim = CoreClaim::of(core);
    ::dup2(ready[1], STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", claim ? "echo held; exec sleep 60" : "echo free", nullptr);
    ::_exit(1);
  }
  char answer[5] = {};
  ASSERT_EQ(::read(ready[0], answer, 4), 4);
  EXPECT_STREQ(answer, "held");
  EXPECT_FALSE(CoreClaim::of(core));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(CoreClaim::of(core));
}

TEST(ThreadPlacesTest, RunsSideBySideGetCoresOfTheirOwn) {
  const auto cores = made_up_cores(4);
  const auto first = claim_places(cores, 2);
  const auto second = claim_places(cores, 2);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->omp_places, "{0,4},{1,5},{2,6},{3,7}");
  EXPECT_EQ(second->omp_places, "{2,6},{3,7},{0,4},{1,5}");
}

TEST(ThreadPlacesTest, CoresOfARunThatEndedAreTakenAgain) {
  const auto cores = made_up_cores(3);
  auto first = claim_places(cores, 1);
  const auto second = claim_places(cores, 1);
  first.reset();
  const auto third = claim_places(cores, 2);
  ASSERT_TRUE(second && third);
  EXPECT_EQ(third->omp_places, "{0,3},{2,5},{1,4}");
}

TEST(ThreadPlacesTest, WithTooFewFreeCoresNothingIsHeld) {
  const auto cores = made_up_cores(3);
  const auto first = claim_places(cores, 2);
  EXPECT_FALSE(claim_places(cores, 2));
  EXPECT_TRUE(claim_places(cores, 1));
}

TEST(ThreadPlacesTest, MoreThreadsThanCoresGetHyperThreads) {
  const auto cores = made_up_cores(2);
  EXPECT_EQ(claim_places(cores, 3)->omp_places, "{0},{1},{2},{3}");
  EXPECT_FALSE(claim_places(cores, 5));
}

}  // namespace
}  // namespace bitcycle
