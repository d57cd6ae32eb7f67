#include "events/summary_message.h"

#include <algorithm>
#include <cmath>

namespace bitcycle {
namespace {

struct Event {
  static constexpr int wall_time = 1, step = 2, file_version = 3, summary = 5;
};
struct Value {
  static constexpr int tag = 1, simple_value = 2, histogram = 5, tensor = 8, metadata = 9;
};
struct Histogram {
  static constexpr int min = 1, max = 2, num = 3, sum = 4, sum_squares = 5, bucket_limit = 6,
                       bucket = 7;
};
struct Tensor {
  static constexpr int dtype = 1, shape = 2, string_val = 8;
};
struct Metadata {
  static constexpr int plugin_data = 1, data_class = 4;
};
constexpr int kSummaryValue = 1, kShapeDim = 2, kDimSize = 1, kPluginName = 1;
constexpr std::int64_t kStringType = 7;   // DT_STRING
constexpr std::int64_t kTensorClass = 2;  // DATA_CLASS_TENSOR

ProtobufMessage value_of(const std::string& tag) {
  ProtobufMessage value;
  value.add(Value::tag, std::string_view(tag));
  return value;
}

ProtobufMessage text_tensor(const std::string& text) {
  ProtobufMessage dim, shape, tensor;
  dim.add(kDimSize, std::int64_t{1});
  shape.add(kShapeDim, dim);
  tensor.add(Tensor::dtype, kStringType);
  tensor.add(Tensor::shape, shape);
  tensor.add(Tensor::string_val, std::string_view(text));
  return tensor;
}

ProtobufMessage text_plugin() {
  ProtobufMessage plugin, metadata;
  plugin.add(kPluginName, std::string_view("text"));
  metadata.add(Metadata::plugin_data, plugin);
  metadata.add(Metadata::data_class, kTensorClass);
  return metadata;
}

struct HistogramContent {
  double low = NAN, high = NAN;  // where values begin and end
  double number = 0, sum = 0, squares = 0;
  std::vector<double> limits, counts;  // of each bucket, its upper end and what it holds

  void add_bucket(double limit, double count) {
    limits.push_back(limit);
    counts.push_back(count);
  }
  void add_values(double value, double count) {
    number += count;
    sum += count * value;
    squares += count * value * value;
  }
};

ProtobufMessage histogram_of(const HistogramContent& content) {
  ProtobufMessage histogram;
  histogram.add(Histogram::min, content.low);
  histogram.add(Histogram::max, content.high);
  histogram.add(Histogram::num, content.number);
  histogram.add(Histogram::sum, content.sum);
  histogram.add(Histogram::sum_squares, content.squares);
  histogram.add(Histogram::bucket_limit, content.limits);
  histogram.add(Histogram::bucket, content.counts);
  return histogram;
}

// Of buckets that each hold `per_bucket` codes, from 0.
HistogramContent of_codes(const std::vector<std::int64_t>& counts, double per_bucket) {
  HistogramContent content;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<double>(counts[i]);
    const double first = per_bucket * static_cast<double>(i), last = first + per_bucket - 1;
    content.add_values(0.5 * (first + last), count);
    content.add_bucket(last + 0.5, count);
    if (count == 0) continue;
    if (std::isnan(content.low)) content.low = first - 0.5;
    content.high = last + 0.5;
  }
  return content;
}

HistogramContent of_values(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const std::size_t buckets = low < high ? 30 : 1;
  const double width = (high - low) / static_cast<double>(buckets);
  HistogramContent content{.low = low, .high = high};
  for (std::size_t i = 1; i < buckets; ++i)
    content.add_bucket(low + width * static_cast<double>(i), 0);
  content.add_bucket(high, 0);
  for (const double value : values) {
    content.add_values(value, 1);
    const auto bucket = std::ranges::lower_bound(content.limits, value) - content.limits.begin();
    content.counts[static_cast<std::size_t>(bucket)] += 1;
  }
  return content;
}

// Note [Time in event files]: the time of an event is its step, in seconds. Measured times stand in
// timing.jsonl alone, so that equal runs have equal event files however often they were stopped.
// TensorBoard's axis of steps is as always; its axes of time count steps.
ProtobufMessage event_at(Step step) {
  ProtobufMessage event;
  event.add(Event::wall_time, static_cast<double>(step));
  return event;
}

}  // namespace

void SummaryMessage::add(const ProtobufMessage& value) {
  summary_.add(kSummaryValue, value);
}

void SummaryMessage::add_scalar(const std::string& tag, double number) {
  ProtobufMessage value = value_of(tag);
  value.add(Value::simple_value, static_cast<float>(number));
  add(value);
}

void SummaryMessage::add_codes(const std::string& tag, const TensorStatistics& tensor) {
  const std::vector<std::int64_t> counts = tensor.code_counts();
  ProtobufMessage value = value_of(tag);
  value.add(Value::histogram,
            histogram_of(
                of_codes(counts, std::exp2(tensor.widest) / static_cast<double>(counts.size()))));
  add(value);
}

void SummaryMessage::add_values(const std::string& tag, const std::vector<double>& values) {
  ProtobufMessage value = value_of(tag);
  value.add(Value::histogram, histogram_of(of_values(values)));
  add(value);
}

void SummaryMessage::add_text(const std::string& tag, const std::string& text) {
  ProtobufMessage value = value_of(tag);
  value.add(Value::metadata, text_plugin());
  value.add(Value::tensor, text_tensor(text));
  add(value);
}

ProtobufMessage version_event() {
  ProtobufMessage event = event_at(0);
  event.add(Event::file_version, std::string_view("brain.Event:2"));
  return event;
}

ProtobufMessage summary_event(Step step, const SummaryMessage& summary) {
  ProtobufMessage event = event_at(step);
  event.add(Event::step, static_cast<std::int64_t>(step));
  event.add(Event::summary, summary.message());
  return event;
}

}  // namespace bitcycle
