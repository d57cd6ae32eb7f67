#include "cli/cost/logged_shares.h"

#include "bitcycle/cost/epoch_work.h"

#include "cli/schedule/run_bits.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace bitcycle::cli {
namespace {

// The work up to a logged step.
struct LoggedWork {
  Step step = 0;
  double done = 0;  // samples or tokens
};

std::vector<LoggedWork> logged_work(const PrecisionPolicy& policy,
                                    const std::vector<LoggedStep>& log) {
  const double sample = StepCost(policy.layers(), Counting::paper, 1).reference(policy);
  std::vector<LoggedWork> all;
  for (const LoggedStep& logged : log) all.push_back({logged.step, logged.gbitops_static / sample});
  return all;
}

bool explains(const EpochWork& epoch, std::int64_t batches, const std::vector<LoggedWork>& log) {
  constexpr double kRounding = 1e-9;  // of adding up in another order
  return std::ranges::all_of(log, [&](const LoggedWork& logged) {
    const double done = epoch.of_batches(logged.step * batches);
    return std::abs(done - logged.done) <= kRounding * done;
  });
}

// Epochs of so many batches, by what the log has at its end.
EpochWork epoch_of(std::int64_t batches, std::int64_t batch, std::int64_t done,
                   const LoggedWork& last) {
  const std::int64_t full = done % batches * batch, epochs = done / batches;
  const double whole = (last.done - static_cast<double>(full)) / static_cast<double>(epochs);
  return {batches, epochs == 0 ? batches * batch : std::llround(whole), batch};
}

// The epoch's batches are known but for how many of them its last step took.
std::optional<EpochWork> explaining_epoch(const Recipe& recipe, Step steps_per_epoch,
                                          const std::vector<LoggedWork>& log) {
  const std::int64_t a_step = recipe.optimizer.accumulate;
  const std::int64_t batch = work_of(recipe) / a_step, most = steps_per_epoch * a_step;
  for (std::int64_t batches = most; batches > most - a_step; --batches) {
    const EpochWork epoch = epoch_of(batches, batch, log.back().step * a_step, log.back());
    const bool possible = epoch.whole > (batches - 1) * batch && epoch.whole <= batches * batch;
    if (possible && explains(epoch, a_step, log)) return epoch;
  }
  return std::nullopt;
}

std::vector<double> mean_work(const std::vector<LoggedWork>& log) {
  std::vector<double> work;
  LoggedWork before;
  for (const LoggedWork& logged : log) {
    const double mean =
        (logged.done - before.done) / static_cast<double>(logged.step - before.step);
    work.resize(static_cast<std::size_t>(logged.step), mean);
    before = logged;
  }
  return work;
}

}  // namespace

StepShares logged_shares(const Recipe& recipe, const PrecisionPolicy& policy,
                         const std::vector<LoggedStep>& log) {
  const std::vector<LoggedWork> work = logged_work(policy, log);
  const Step steps = log.back().step;
  const auto epoch = explaining_epoch(recipe, run_length(recipe, log.back()).steps_per_epoch, work);
  if (!epoch) return {steps, mean_work(work), work_of(recipe)};
  const auto of_batches = [&](std::int64_t count) { return epoch->of_batches(count); };
  return {steps, work_of_steps(of_batches, steps, recipe.optimizer.accumulate), work_of(recipe)};
}

}  // namespace bitcycle::cli
