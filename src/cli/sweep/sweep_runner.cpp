#include "cli/sweep/sweep_runner.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"
#include "bitcycle/io/run_lock.h"
#include "bitcycle/report/format.h"

#include "cli/sweep/child.h"
#include "cli/sweep/sweep_progress.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <fstream>
#include <map>
#include <thread>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kPause = std::chrono::milliseconds(50);
constexpr double kLookEvery = 1;      // seconds between looks at what the cells have logged
constexpr double kLongestWait = 120;  // for a process of before that still saves its checkpoint

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The first seed of every group, then the second, and so on.
std::deque<std::size_t> order_of(const SweepPlan& plan) {
  std::map<std::string, int> seen;
  std::vector<std::pair<int, std::size_t>> rounds;
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const PlannedCell& planned = plan.cells[i];
    const int round = seen[planned.cell.group]++;
    if (planned.run.state != SummaryState::finished) rounds.emplace_back(round, i);
  }
  std::ranges::sort(rounds);
  std::deque<std::size_t> order;
  for (const auto& [round, cell] : rounds) order.push_back(cell);
  return order;
}

// The last error that a process reported, else how it ended.
std::string failure_of(const fs::path& log, int status) {
  std::ifstream file(log);
  constexpr std::string_view kReport = "bitcycle: ";
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kReport)) reason = line.substr(kReport.size());
  }
  if (!reason.empty()) return reason;
  if (status == 128 + SIGINT || status == 128 + SIGTERM) return "it was told to stop";
  if (status > 128) return fmt::format("signal {} ended it", status - 128);
  return fmt::format("it ended with status {}", status);
}

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, const SweepRunOptions& options, LiveLine& line)
      : plan_(plan),
        options_(options),
        line_(line),
        progress_(plan, options.jobs),
        record_(plan.record),
        waiting_(order_of(plan)),
        slots_(static_cast<std::size_t>(options.jobs)) {}

  SweepOutcome run(const StopSignal& stop) {
    fs::create_directories(plan_.directory / "logs");
    write_sweep_record(plan_.directory, record_);
    while (busy() || (!waiting_.empty() && stop.received() == 0)) {
      if (stop.received() == 0)
        fill_slots();
      else
        tell_to_stop(stop.received());
      collect();
      look();
      std::this_thread::sleep_for(kPause);
    }
    return {record_, progress_.finished(), progress_.failed()};
  }

 private:
  struct Job {
    std::size_t cell;
    Child child;
  };

  bool busy() const {
    return std::ranges::any_of(slots_, [](const auto& slot) { return slot.has_value(); });
  }
  fs::path directory(std::size_t cell) const {
    return plan_.directory / plan_.cells[cell].cell.name;
  }
  fs::path log(std::size_t cell) const {
    return plan_.directory / "logs" / (plan_.cells[cell].cell.name + ".log");
  }

  void fill_slots() {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot]) continue;
      const auto cell = take_cell();
      if (!cell) return;
      start(slot, *cell);
    }
  }

  // The next cell whose directory nobody uses. A process that a killed sweep left behind has been
  // told to stop and will soon be gone; one that stays is a failure.
  std::optional<std::size_t> take_cell() {
    for (auto next = waiting_.begin(); next != waiting_.end(); ++next) {
      const std::size_t cell = *next;
      const auto use = prepare(cell);
      const double since = use ? in_use_.try_emplace(cell, now()).first->second : 0;
      if (use && now() - since < kLongestWait) continue;
      waiting_.erase(next);
      if (!use) return cell;
      fail(cell, *use);
      return take_cell();
    }
    return std::nullopt;
  }

  // Leaves the recipe in the cell's directory, from which `bitcycle train` begins or goes on. What
  // keeps it from that.
  std::optional<std::string> prepare(std::size_t cell) {
    try {
      const RunLock lock(directory(cell));
      write_file(directory(cell) / "recipe.toml", to_toml(plan_.cells[cell].cell.recipe));
      return std::nullopt;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::usage) throw;
      return error.what();
    }
  }

  // Threads that cannot be shared out evenly go to the first slots.
  int threads_of(std::size_t slot) const {
    const int spare = static_cast<int>(slot) < options_.threads % options_.jobs ? 1 : 0;
    return std::max(1, options_.threads / options_.jobs + spare);
  }

  void start(std::size_t slot, std::size_t cell) {
    slots_[slot].emplace(
        Job{cell, Child({.arguments = {"train", directory(cell).string(), "--resume"},
                         .output = log(cell),
                         .threads = threads_of(slot)})});
    progress_.begin(cell, now());
    say(fmt::format("{} {}", plan_.cells[cell].cell.name,
                    plan_.cells[cell].run.step > 0 ? "goes on" : "begins"));
  }

  void tell_to_stop(int signal) {
    if (told_) return;
    told_ = true;
    line_.print("stopping: the cells that run finish their step and save");
    for (const auto& slot : slots_) {
      if (slot) slot->child.signal(signal);
    }
  }

  void collect() {
    for (auto& slot : slots_) {
      const auto status = slot ? slot->child.status() : std::nullopt;
      if (!status) continue;
      const std::size_t cell = slot->cell;
      slot.reset();
      ended(cell, *status);
    }
  }

  void ended(std::size_t cell, int status) {
    const RunSummary run = look_at_run(directory(cell));
    if (status == 0 && run.state == SummaryState::finished) {
      progress_.end(cell, now(), true);
      say(fmt::format("{} finished: {} {}; {}", plan_.cells[cell].cell.name, run.score.metric.name,
                      score_text(run.score), progress_.counts()));
      write_sweep_record(plan_.directory, record_);
    } else if (!told_) {
      fail(cell, failure_of(log(cell), status));
    }
  }

  void fail(std::size_t cell, const std::string& reason) {
    progress_.end(cell, now(), false);
    std::ranges::find(record_.cells, plan_.cells[cell].cell.name, &CellRecord::name)->failure =
        reason;
    line_.print(fmt::format("{} failed: {}", plan_.cells[cell].cell.name, reason));
    write_sweep_record(plan_.directory, record_);
  }

  void look() {
    if (now() - looked_ < kLookEvery) return;
    looked_ = now();
    for (const auto& slot : slots_) {
      if (slot) progress_.advance(slot->cell, now(), look_at_run(directory(slot->cell)));
    }
    if (!options_.quiet) line_.update(progress_.line());
  }

  void say(const std::string& text) {
    if (!options_.quiet) line_.print(text);
  }

  const SweepPlan& plan_;
  SweepRunOptions options_;
  LiveLine& line_;
  SweepProgress progress_;
  SweepRecord record_;
  std::deque<std::size_t> waiting_;
  std::vector<std::optional<Job>> slots_;
  std::map<std::size_t, double> in_use_;  // cells that others use, and since when
  bool told_ = false;
  double looked_ = 0;
};

}  // namespace

SweepOutcome run_sweep_cells(const SweepPlan& plan, const SweepRunOptions& options,
                             const StopSignal& stop, LiveLine& line) {
  return SweepRunner(plan, options, line).run(stop);
}

}  // namespace bitcycle::cli
