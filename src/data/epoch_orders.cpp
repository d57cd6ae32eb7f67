#include "data/epoch_orders.h"

#include "data/subset.h"

namespace bitcycle {

std::shared_ptr<const std::vector<std::int64_t>> EpochOrders::of(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  auto& order = orders_[epoch];
  if (!order) {
    const RandomKey key = key_.derive(static_cast<std::uint64_t>(epoch));
    order = std::make_shared<const std::vector<std::int64_t>>(permutation(count_, key));
  }
  const auto result = order;
  orders_.erase(orders_.begin(), orders_.lower_bound(epoch - 1));
  return result;
}

}  // namespace bitcycle
