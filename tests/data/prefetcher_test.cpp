#include "bitcycle/data/prefetcher.h"

#include "data/support.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

std::string step_name(std::int64_t step, std::string used) {
  if (step % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  used = "step " + std::to_string(step);
  return used;
}

TEST(PrefetcherTest, HandsOutTheStepsInOrderFromAnyStepOn) {
  for (int workers : {0, 1, 3}) {
    for (std::int64_t first : {0, 17}) {
      Prefetcher<std::string> prefetcher(step_name, {workers, 2, first});
      for (std::int64_t step = first; step < first + 40; ++step) {
        EXPECT_EQ(prefetcher.next(), "step " + std::to_string(step)) << workers << " workers";
      }
    }
  }
}

TEST(PrefetcherTest, WhatWasThrownComesAtItsTurnAndStays) {
  const auto make = [](std::int64_t step, int) {
    if (step == 5) throw std::invalid_argument("five");
    return static_cast<int>(step);
  };
  for (int workers : {0, 1, 3}) {
    Prefetcher<int> prefetcher(make, {workers, 8, 3});
    EXPECT_EQ(prefetcher.next(), 3);
    EXPECT_EQ(prefetcher.next(), 4);
    for (int again = 0; again < 2; ++again) EXPECT_THROW(prefetcher.next(), std::invalid_argument);
  }
}

TEST(PrefetcherTest, NoMoreStepsAreAheadThanAskedFor) {
  std::mutex mutex;
  std::int64_t furthest = -1;
  const auto make = [&](std::int64_t step, int) {
    const std::lock_guard lock(mutex);
    furthest = std::max(furthest, step);
    return 0;
  };
  const PrefetchOptions options{2, 3, 0};
  Prefetcher<int> prefetcher(make, options);
  for (int taken = 1; taken <= 20; ++taken) {
    prefetcher.next();
    const std::lock_guard lock(mutex);
    EXPECT_LT(furthest, taken + steps_ahead(options));
  }
  EXPECT_EQ(steps_ahead({.workers = 6, .prefetch = 3}), 6);
  EXPECT_EQ(steps_ahead({.workers = 0, .prefetch = 0}), 1);
}

TEST(PrefetcherTest, WhatIsHandedBackIsLentToALaterStep) {
  const auto make = [](std::int64_t, std::vector<int> used) {
    used.resize(1000);
    return used;
  };
  for (int workers : {0, 2}) {
    Prefetcher<std::vector<int>> prefetcher(make, {workers, 2, 0});
    std::set<const int*> addresses;
    std::vector<int> value;
    for (int i = 0; i < 50; ++i) {
      value = prefetcher.next(std::move(value));
      addresses.insert(value.data());
    }
    EXPECT_LE(addresses.size(), 4u);
  }
}

}  // namespace
}  // namespace bitcycle
