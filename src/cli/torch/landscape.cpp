// `bitcycle landscape` itself, in the program that has LibTorch: makes the points that are not
// stored yet.

#include "bitcycle/base/error.h"
#include "bitcycle/io/run_lock.h"
#include "bitcycle/report/live_line.h"
#include "bitcycle/train/caching_allocator.h"
#include "bitcycle/train/landscape_points.h"

#include "cli/landscape/landscape_result.h"
#include "cli/runs/run_checkpoint.h"
#include "cli/runs/run_paths.h"
#include "cli/torch/load_checkpoint.h"

#include <chrono>

#include <fmt/core.h>

namespace bitcycle::cli {
namespace {

namespace fs = std::filesystem;

// "cpt: point 310 of 2601, 12 min 3 s left"; on a terminal at every point, else at every tenth.
class PointProgress {
 public:
  PointProgress(std::string run, const Landscape& landscape, LiveLine& line)
      : run_(std::move(run)),
        landscape_(landscape),
        line_(line),
        before_(done()),
        told_(tenths()) {}

  void tell() {
    line_.update(text());
    if (line_.live() || tenths() == told_) return;
    told_ = tenths();
    line_.print(text());
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t done() const { return landscape_.points.size(); }
  std::size_t total() const { return landscape_.subject.settings.grid.size(); }
  std::size_t tenths() const { return 10 * done() / total(); }
  std::string text() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    const double left =
        seconds * static_cast<double>(total() - done()) / static_cast<double>(done() - before_);
    return fmt::format("{}: point {} of {}, {} left", run_, done(), total(),
                       readable_duration(left));
  }

  std::string run_;
  const Landscape& landscape_;
  LiveLine& line_;
  std::size_t before_, told_;
  Clock::time_point begun_ = Clock::now();
};

// One process makes landscapes of a run at a time.
RunLock lock_of(const fs::path& home) {
  try {
    return RunLock(home / kLandscapeFolder);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
    throw Error(ErrorCode::usage, "another process makes a landscape of \"" + home.string() + "\"",
                "Wait for it to end.");
  }
}

class Maker {
 public:
  Maker(const LandscapeOptions& options, LiveLine& line) : options_(options), line_(line) {}

  // Nothing when it was stopped.
  std::optional<Landscape> make(const std::string& run, const StopSignal& stop) {
    const Recipe recipe = recipe_of_run(run);
    RunCheckpoint checkpoint = read_checkpoint(run, options_.checkpoint);
    const LandscapeSubject subject = landscape_subject(options_, checkpoint);
    const fs::path home = checkpoint.home;
    if (auto stored = stored_landscape(home, subject)) return stored;
    Session session(recipe, run);
    load_checkpoint(session, std::move(checkpoint));
    const auto samples = landscape_samples(session, subject.settings);
    const RunLock lock = lock_of(home);
    if (auto stored = stored_landscape(home, subject)) return stored;  // by another, meanwhile
    tell_replaced(home, subject);
    Landscape landscape{subject, samples->count(), samples->unit(), {}, {}};
    PointLog log(home, landscape);
    tell_begin(run, landscape, log);
    PointProgress progress(run_name(run), landscape, line_);
    const auto told = [&] { options_.quiet ? void() : progress.tell(); };
    if (make_points(session, *samples, landscape, log, stop, told) == LandscapeOutcome::stopped) {
      line_.print(fmt::format("stopped at point {} of {} of {}; the same command goes on",
                              landscape.points.size(), subject.settings.grid.size(), run));
      return std::nullopt;
    }
    store_landscape(home, landscape);
    log.remove();
    return landscape;
  }

 private:
  void tell_replaced(const fs::path& home, const LandscapeSubject& subject) {
    const fs::path file = landscape_file(home, subject);
    if (!fs::exists(file)) return;
    line_.print("note: " + file.string() + " is damaged or of other weights; it is made anew");
  }

  void tell_begin(const std::string& run, const Landscape& landscape, const PointLog& log) {
    if (!log.notice().empty()) line_.print("note: " + log.notice());
    if (options_.quiet) return;
    const std::size_t all = landscape.subject.settings.grid.size(), done = landscape.points.size();
    const std::string which = done == 0 ? fmt::format("{} points", all)
                                        : fmt::format("{} of {} points are there", done, all);
    line_.print(fmt::format("{}: {}, step {}, {} bits, {} {} of the training set", run_name(run),
                            which, landscape.subject.step, landscape.subject.settings.bits,
                            landscape.scored, landscape.unit));
  }

  const LandscapeOptions& options_;
  LiveLine& line_;
};

}  // namespace

int run_landscape(const LandscapeOptions& options) {
  use_caching_allocator();
  const StopSignal stop;
  LiveLine line(stderr);
  Maker maker(options, line);
  std::vector<Landscape> landscapes;
  for (const std::string& run : options.runs) {
    auto landscape = maker.make(run, stop);
    if (!landscape) return 128 + stop.received();
    landscapes.push_back(std::move(*landscape));
  }
  return show_landscapes(options, landscapes);
}

}  // namespace bitcycle::cli
