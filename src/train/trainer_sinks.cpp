#include "bitcycle/base/error.h"

#include "train/trainer_implementation.h"

#include <algorithm>

namespace bitcycle {

// Checkpoints keep offsets by name.
void Trainer::Implementation::add_sink(const std::shared_ptr<EventSink>& sink) {
  const auto has_name = [&](const auto& other) { return other->name() == sink->name(); };
  if (std::ranges::any_of(sinks, has_name)) {
    throw Error(ErrorCode::usage, "two sinks of the run have the name \"" + sink->name() + "\"",
                "Give each sink of one's own another name().");
  }
  sinks.push_back(sink);
}

// A file that the run can do without may have been removed, or cut off, while it stood still.
void Trainer::Implementation::begin(EventSink& sink, const RunStart& start) {
  const auto offset = state.offsets.find(sink.name());
  if (offset == state.offsets.end()) return sink.begin(start, 0);
  try {
    sink.begin(start, offset->second);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::checkpoint || sink.importance() == Importance::essential) throw;
    state.offsets.erase(offset);
    sink.begin(start, 0);
  }
}

void Trainer::Implementation::lose(const std::shared_ptr<EventSink>& sink, const Error& error) {
  std::erase(sinks, sink);
  tell([report = LostSinkReport{sink->name(), error.what(), error.hint()}](EventSink& other) {
    other.lost_sink(report);
  });
}

void Trainer::Implementation::sync_sinks() {
  tell([&](EventSink& sink) {
    const std::uint64_t offset = sink.sync();
    if (offset > 0) state.offsets[sink.name()] = offset;
  });
}

}  // namespace bitcycle
