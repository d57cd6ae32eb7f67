#include "bitcycle/events/layers_file.h"

#include "base/json_text.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "layers.jsonl";

// Six digits are more than a plot shows, and a third of the bytes of all of them.
Json rounded(double value) {
  if (!std::isfinite(value)) return {};
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json bits_of(const TensorStatistics& tensor) {
  const double bits = tensor.bits();
  if (bits == tensor.widest) return tensor.widest;
  return rounded(bits);
}

Json json_of(const LayerStatistics& layer) {
  Json roles = Json::object();
  each_role(layer, [&](const char* role, const TensorStatistics& tensor) {
    roles[role] = {{"bits", bits_of(tensor)},
                   {"low", rounded(tensor.range.low)},
                   {"high", rounded(tensor.range.high)},
                   {"sqnr_db", rounded(tensor.sqnr_db())}};
  });
  return roles;
}

}  // namespace

LayersFile::LayersFile(const std::filesystem::path& run_directory) : path_(run_directory / kName) {}

std::string LayersFile::name() const {
  return kName;
}

void LayersFile::begin(const RunStart&, std::uint64_t offset) {
  log_.emplace(path_, offset);
}

void LayersFile::layers(const LayerReport& report) {
  Json layers = Json::object();
  for (const LayerStatistics& layer : report.layers) layers[layer.name] = json_of(layer);
  log_->append(json_text({{"step", report.step}, {"layers", std::move(layers)}}));
}

std::uint64_t LayersFile::sync() {
  log_->sync();
  return log_->offset();
}

}  // namespace bitcycle
