#include "bitcycle/config/learned.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bitcycle {
namespace {

const MetricSum* find(const MetricSums& metrics, const char* name) {
  const auto found = std::ranges::find(metrics.entries(), name, &MetricSum::name);
  return found == metrics.entries().end() ? nullptr : &*found;
}

bool is_tagged(const LayerInfo& layer, const char* tag) {
  return std::ranges::find(layer.tags, tag) != layer.tags.end();
}

// The words of an adaptive softmax are spread over its head, which also has an output for each
// tail, and the second layers of its tails.
std::int64_t adaptive_words(const std::vector<LayerInfo>& layers) {
  std::int64_t words = 0, tails = 0;
  bool joint_head = false;
  for (const LayerInfo& layer : layers) {
    const bool tail = layer.name.find("adaptive_softmax.tail.") != layer.name.npos;
    const bool words_of_tail = tail && layer.name.ends_with(".1");
    const bool head = layer.name.ends_with("adaptive_softmax.head");
    joint_head |= head;
    tails += words_of_tail;
    if (head || words_of_tail || layer.name.ends_with("adaptive_softmax.head.word_proj")) {
      words += layer.geometry.out_channels;
    }
  }
  return joint_head ? words - tails : words;
}

}  // namespace

std::int64_t outputs_of(const std::vector<LayerInfo>& layers) {
  if (const std::int64_t words = adaptive_words(layers); words > 0) return words;
  const auto last = std::find_if(layers.rbegin(), layers.rend(), [](const LayerInfo& layer) {
    return layer.kind == LayerKind::linear && !is_tagged(layer, "gate");
  });
  return last == layers.rend() ? 1 : last->geometry.out_channels;
}

Learned::Kind Learned::kind(const MetricSums& metrics) {
  return find(metrics, "accuracy") != nullptr ? Kind::accuracy : Kind::loss;
}

double Learned::of(const MetricSums& metrics) const {
  if (kind(metrics) == Kind::accuracy) {
    const MetricSum& accuracy = *find(metrics, "accuracy");
    return accuracy.sum / accuracy.count - 1 / outputs_;
  }
  const MetricSum* loss = find(metrics, "loss");
  assert(loss != nullptr);
  return 1 - loss->sum / loss->count / std::log(outputs_);
}

double Learned::metric(Kind kind, double learned) const {
  return kind == Kind::accuracy ? learned + 1 / outputs_ : (1 - learned) * std::log(outputs_);
}

}  // namespace bitcycle
