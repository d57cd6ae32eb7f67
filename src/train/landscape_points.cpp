#include "bitcycle/train/landscape_points.h"

#include "bitcycle/train/weight_plane.h"

namespace bitcycle {
namespace {

RandomKey key_of(const LandscapeSettings& settings) {
  return RandomKey(settings.seed).derive("landscape");
}

std::vector<std::pair<std::string, double>> named_values(const Score& score) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto& [metric, value] : score.metrics) values.emplace_back(metric.name, value);
  return values;
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
  while (landscape.points.size() < settings.grid.size()) {
    if (stop.received() != 0) return LandscapeOutcome::stopped;
    const int point = static_cast<int>(landscape.points.size());
    plane.move_to(settings.grid.at(point % settings.grid.points),
                  settings.grid.at(point / settings.grid.points));
    log.append(named_values(samples.score()));
    told();
  }
  return LandscapeOutcome::finished;
}

}  // namespace bitcycle
