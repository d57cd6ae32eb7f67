#include "train/point_team.h"

#include <cmath>
#include <csignal>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitcycle {
namespace {

using Values = PointTeam::Values;

// Point p is worth p, its square, and the process that made it.
Values made_by(std::size_t point) {
  const auto p = static_cast<double>(point);
  return {p, p * p, static_cast<double>(::getpid())};
}

TEST(PointTeam, HandsPointsOutInOrderFromWhereItBegins) {
  for (const int processes : {1, 2, 3, 7, 50}) {
    PointTeam team(4, 23, processes, made_by);
    for (double point = 4; point < 23; ++point) {
      const Values values = team.next();
      EXPECT_EQ(values[0], point) << processes;
      EXPECT_EQ(values[1], point * point) << processes;
    }
  }
}

TEST(PointTeam, ProcessesTakeTurns) {
  PointTeam team(0, 6, 3, made_by);
  std::vector<double> makers;
  for (int i = 0; i < 6; ++i) makers.push_back(team.next()[2]);
  EXPECT_EQ(makers[0], static_cast<double>(::getpid()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(makers[i], makers[i + 3]);
  EXPECT_NE(makers[1], makers[0]);
  EXPECT_NE(makers[2], makers[0]);
  EXPECT_NE(makers[1], makers[2]);
}

TEST(PointTeam, ValuesComeThroughToTheBit) {
  const Values odd = {-0.0, std::numeric_limits<double>::denorm_min(),
                      std::numeric_limits<double>::infinity(), std::nextafter(1.0, 2.0)};
  PointTeam team(0, 2, 2, [&](std::size_t) { return odd; });
  team.next();
  const Values found = team.next();
  EXPECT_EQ(found, odd);
  EXPECT_TRUE(std::signbit(found[0]));
}

TEST(PointTeam, ThePointsOfAProcessThatEndsAreTheParents) {
  const pid_t own = ::getpid();
  PointTeam team(0, 8, 2, [own](std::size_t point) {
    if (point == 3 && ::getpid() != own) ::raise(SIGKILL);
    return made_by(point);
  });
  for (std::size_t point = 0; point < 8; ++point) {
    const Values values = team.next();
    EXPECT_EQ(values[1], static_cast<double>(point * point));
    EXPECT_EQ(values[2] == own, point != 1) << point;
  }
}

TEST(PointTeam, WhatAMakerThrowsElsewhereIsThrownHere) {
  PointTeam team(0, 4, 2, [](std::size_t point) {
    if (point == 1) throw std::runtime_error("no room");
    return made_by(point);
  });
  EXPECT_EQ(team.next()[0], 0);
  EXPECT_THROW(team.next(), std::runtime_error);
}

// No descriptor is left for a pipe.
TEST(PointTeam, MakesDoWithoutProcesses) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit none{0, limit.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  PointTeam team(0, 5, 3, made_by);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  for (double point = 0; point < 5; ++point) {
    const Values values = team.next();
    EXPECT_EQ(values[0], point);
    EXPECT_EQ(values[2], static_cast<double>(::getpid()));
  }
}

TEST(PointTeam, LeavesNoProcessBehind) {
  {
    PointTeam team(0, 1000, 4, made_by);
    for (int i = 0; i < 6; ++i) team.next();
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace bitcycle
