#pragma once

// TensorFlow's messages Event and Summary, as far as TensorBoard shows them: scalars, histograms
// and texts under tags. Field numbers are those of TensorFlow's event.proto, summary.proto,
// histogram.proto and tensor.proto.

#include "bitcycle/events/layer_statistics.h"

#include "events/protobuf_message.h"

#include <string>
#include <vector>

namespace bitcycle {

class SummaryMessage {
 public:
  void add_scalar(const std::string& tag, double value);
  // How often codes were seen, on the axis of codes: each stands at the middle of a bucket.
  void add_codes(const std::string& tag, const TensorStatistics& tensor);
  // How many of the values lie where, in buckets of equal width from the lowest to the highest.
  void add_values(const std::string& tag, const std::vector<double>& values);
  // Shown as Markdown.
  void add_text(const std::string& tag, const std::string& text);

  bool empty() const { return summary_.bytes().empty(); }
  const ProtobufMessage& message() const { return summary_; }

 private:
  void add(const ProtobufMessage& value);

  ProtobufMessage summary_;
};

// An event of the file's kind and version, which every event file begins with.
ProtobufMessage version_event();
ProtobufMessage summary_event(Step step, const SummaryMessage& summary);

}  // namespace bitcycle
