#pragma once

// The order of the samples in each epoch, drawn by a key and the epoch alone. Workers ask for it
// from several threads; near the end of an epoch they need two orders at a time, so those of the
// latest two are kept.

#include "bitcycle/base/random.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace bitcycle {

class EpochOrders {
 public:
  EpochOrders(std::int64_t count, RandomKey key) : count_(count), key_(key) {}

  std::shared_ptr<const std::vector<std::int64_t>> of(std::int64_t epoch);

 private:
  std::int64_t count_;
  RandomKey key_;
  std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const std::vector<std::int64_t>>> orders_;
};

}  // namespace bitcycle
