#include "bitcycle/train/landscape_points.h"

#include "bitcycle/train/weight_plane.h"

#include "quant/single_thread.h"
#include "train/point_team.h"

#include <omp.h>

namespace bitcycle {
namespace {

RandomKey key_of(const LandscapeSettings& settings) {
  return RandomKey(settings.seed).derive("landscape");
}

// Scores points of a plane, and knows the metrics by name once it has scored one.
class PointScorer {
 public:
  PointScorer(WeightPlane& plane, const PlaneGrid& grid, KeptSamples& samples)
      : plane_(plane), grid_(grid), samples_(samples) {}

  std::vector<double> score(std::size_t point) {
    const auto number = static_cast<int>(point);
    plane_.move_to(grid_.at(number % grid_.points), grid_.at(number / grid_.points));
    metrics_ = samples_.score().metrics;
    std::vector<double> values;
    for (const Measured& measured : metrics_) values.push_back(measured.value);
    return values;
  }

  std::vector<std::pair<std::string, double>> named(const std::vector<double>& values) const {
    std::vector<std::pair<std::string, double>> named;
    for (std::size_t i = 0; i < values.size(); ++i) {
      named.emplace_back(metrics_[i].metric.name, values[i]);
    }
    return named;
  }

 private:
  WeightPlane& plane_;
  const PlaneGrid& grid_;
  KeptSamples& samples_;
  std::vector<Measured> metrics_;
};

// Note [Processes for points]. What a GPU holds a forked process cannot use.
int processes_for(const Session& session) {
  return session.recipe().device == "cpu" ? omp_get_max_threads() : 1;
}

}  // namespace

std::unique_ptr<KeptSamples> landscape_samples(Session& session,
                                               const LandscapeSettings& settings) {
  return session.task().keep_samples(settings.samples, key_of(settings).derive("samples"));
}

LandscapeOutcome make_points(Session& session, KeptSamples& samples, Landscape& landscape,
                             PointLog& log, const StopSignal& stop,
                             const std::function<void()>& told) {
  const LandscapeSettings& settings = landscape.subject.settings;
  session.apply_evaluation(parse_evaluation_bits(settings.bits), landscape.subject.step - 1);
  WeightPlane plane(session.model(), key_of(settings).derive("directions"));
  PointScorer scorer(plane, settings.grid, samples);
  const int processes = processes_for(session);
  const SingleThread single_thread;
  PointTeam team(landscape.points.size(), settings.grid.size(), processes,
                 [&](std::size_t point) { return scorer.score(point); });
  while (landscape.points.size() < settings.grid.size()) {
    if (stop.received() != 0) return LandscapeOutcome::stopped;
    log.append(scorer.named(team.next()));
    told();
  }
  return LandscapeOutcome::finished;
}

}  // namespace bitcycle
