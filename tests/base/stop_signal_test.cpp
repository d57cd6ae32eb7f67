#include "bitcycle/base/stop_signal.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(StopSignalTest, SignalsInQuickSuccessionAreOneWish) {
  const StopSignal stop;
  EXPECT_EQ(stop.received(), 0);
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  std::raise(SIGINT);
  EXPECT_EQ(stop.received(), SIGTERM);
  EXPECT_THROW(stop.check(), Stopped);
}

void insist() {
  const StopSignal stop("stopping");
  std::raise(SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  std::raise(SIGINT);
}

TEST(StopSignalTest, WhoInsistsIsObeyedAtOnce) {
  EXPECT_EXIT(insist(), testing::ExitedWithCode(128 + SIGINT), "stopping");
}

}  // namespace
}  // namespace bitcycle
