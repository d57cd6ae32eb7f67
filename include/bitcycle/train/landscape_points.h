#pragma once

// The loss landscape of a session's model, point by point: the task's metrics of kept samples at
// every point of a plane of weights. As many points are worked on at a time as the session has
// threads, each by a process of its own; their values do not depend on that.

#include "bitcycle/base/stop_signal.h"
#include "bitcycle/landscape/point_log.h"
#include "bitcycle/train/session.h"

#include <functional>

namespace bitcycle {

enum class LandscapeOutcome { finished, stopped };

// The part of the training set that a landscape with these settings is of.
std::unique_ptr<KeptSamples> landscape_samples(Session& session, const LandscapeSettings& settings);

// Adds the points that `landscape` lacks to it and to its log, in order, until `stop` asks. The
// model has the weights of the landscape's subject, and has them again afterwards. `told` is called
// after each point.
LandscapeOutcome make_points(
    Session& session, KeptSamples& samples, Landscape& landscape, PointLog& log,
    const StopSignal& stop, const std::function<void()>& told = [] {});

}  // namespace bitcycle
