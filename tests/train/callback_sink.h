#pragma once

// A sink that calls what a test gives it.

#include "bitcycle/events/event_sink.h"

#include <functional>

namespace bitcycle {

struct Callbacks {
  std::function<void(const StepReport&)> step = {};
  std::function<void(const EvaluationReport&)> evaluation = {};
  std::function<void(const LostBestReport&)> lost_best = {};
  std::function<void(const LayerReport&)> layers = {};
  std::function<void(const LostSinkReport&)> lost_sink = {};
  std::function<void(const RunFinish&)> finish = {};
};

class CallbackSink : public EventSink {
 public:
  explicit CallbackSink(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

  std::string name() const override { return "callbacks"; }
  void step(const StepReport& report) override {
    if (callbacks_.step) callbacks_.step(report);
  }
  void evaluation(const EvaluationReport& report) override {
    if (callbacks_.evaluation) callbacks_.evaluation(report);
  }
  void lost_best(const LostBestReport& report) override {
    if (callbacks_.lost_best) callbacks_.lost_best(report);
  }
  void layers(const LayerReport& report) override {
    if (callbacks_.layers) callbacks_.layers(report);
  }
  void lost_sink(const LostSinkReport& report) override {
    if (callbacks_.lost_sink) callbacks_.lost_sink(report);
  }
  void finish(const RunFinish& finish) override {
    if (callbacks_.finish) callbacks_.finish(finish);
  }

 private:
  Callbacks callbacks_;
};

inline EventSinks calling(Callbacks callbacks) {
  return {std::make_shared<CallbackSink>(std::move(callbacks))};
}

}  // namespace bitcycle
