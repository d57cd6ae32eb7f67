#pragma once

// Prepares what a loop needs next ahead of it, on worker threads: a T for every step, from a
// function of the step alone. Results are handed out in the order of the steps, so the stream is
// the same for any number of workers, and can be entered at any step.

#include "bitcycle/base/thread_places.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace bitcycle {

struct PrefetchOptions {
  int workers = 1;              // 0: prepare on the calling thread
  int prefetch = 4;             // steps prepared ahead
  std::int64_t first_step = 0;  // where the stream starts
};

// How many steps may be under way or waiting at a time.
inline std::int64_t steps_ahead(const PrefetchOptions& options) {
  return std::max({options.prefetch, options.workers, 1});
}

// Workers take the steps in order and leave the results by step; the loop collects them in order. A
// result is a T or what was thrown while making it.
template <typename T>
class Prefetcher {
 public:
  // Makes the T of a step; `used` lends its memory. Called from any number of threads at a time.
  using Make = std::function<T(std::int64_t step, T used)>;

  Prefetcher(Make make, const PrefetchOptions& options)
      : make_(std::move(make)),
        window_(steps_ahead(options)),
        results_(static_cast<std::size_t>(window_)),
        next_step_(options.first_step),
        next_taken_(options.first_step) {
    for (int i = 0; i < options.workers; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  // All are told to stop before the first is waited for.
  ~Prefetcher() {
    for (std::jthread& worker : workers_) worker.request_stop();
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The T of the next step. Rethrows what a worker threw, when the turn of its step comes; that
  // step stays the next one, so that asking again fails again. What is no longer needed can be
  // handed back for its memory.
  T next(T used = {}) {
    return workers_.empty() ? make_here(std::move(used)) : collect(std::move(used));
  }

 private:
  struct Result {
    T value;
    std::exception_ptr error;
  };

  void work(const std::stop_token& stop) {
    leave_places();
    std::unique_lock lock(mutex_);
    const auto room = [this] { return next_taken_ < next_step_ + window_; };
    while (can_work_.wait(lock, stop, room)) {
      const std::int64_t step = next_taken_++;
      T used = take_spare();
      lock.unlock();
      Result result = attempt(step, std::move(used));
      lock.lock();
      result_of(step) = std::move(result);
      has_result_.notify_all();
    }
  }

  T take_spare() {
    if (spare_.empty()) return {};
    T used = std::move(spare_.back());
    spare_.pop_back();
    return used;
  }

  Result attempt(std::int64_t step, T used) {
    try {
      return {make_(step, std::move(used)), nullptr};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }

  T collect(T used) {
    std::unique_lock lock(mutex_);
    spare_.push_back(std::move(used));
    std::optional<Result>& result = result_of(next_step_);
    has_result_.wait(lock, [&] { return result.has_value(); });
    if (result->error) std::rethrow_exception(result->error);
    T value = std::move(result->value);
    result.reset();
    ++next_step_;
    lock.unlock();
    can_work_.notify_one();
    return value;
  }

  std::optional<Result>& result_of(std::int64_t step) {
    return results_[static_cast<std::size_t>(step % window_)];
  }

  T make_here(T used) {
    T value = make_(next_step_, std::move(used));
    ++next_step_;
    return value;
  }

  const Make make_;
  const std::int64_t window_;
  // No two steps under way share a place, and no worker needs memory to leave one, not even that
  // there is none.
  std::vector<std::optional<Result>> results_;
  std::mutex mutex_;
  std::condition_variable_any can_work_;
  std::condition_variable has_result_;
  std::int64_t next_step_;   // the loop gets next
  std::int64_t next_taken_;  // a worker takes next
  std::vector<T> spare_;
  std::vector<std::jthread> workers_;  // last: joined before the rest goes
};

}  // namespace bitcycle
