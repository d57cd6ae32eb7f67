#include "report/view/point_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

PointSeries picked(const PointSeries& series, const std::set<std::size_t>& kept) {
  PointSeries result;
  for (const std::size_t i : kept) result.add(series.x[i], series.y[i]);
  return result;
}

// The indices of the lowest and the highest value of [begin, end); a gap, where there is one, too
// would double the points, so a stretch of nothing but gaps keeps its first.
void keep_extremes(const PointSeries& series, std::size_t begin, std::size_t end,
                   std::set<std::size_t>& kept) {
  std::size_t low = begin, high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(series.y[i])) continue;
    if (!std::isfinite(series.y[low]) || series.y[i] < series.y[low]) low = i;
    if (!std::isfinite(series.y[high]) || series.y[i] > series.y[high]) high = i;
  }
  kept.insert({low, high});
}

}  // namespace

void PointSeries::add(double at, double value) {
  x.push_back(at);
  y.push_back(value);
}

PointSeries thinned(const PointSeries& series, std::size_t points) {
  const std::size_t count = series.x.size();
  if (count <= points) return series;
  const std::size_t buckets = std::max<std::size_t>(1, (points - 2) / 2);
  std::set<std::size_t> kept = {0, count - 1};
  for (std::size_t i = 0; i < buckets; ++i) {
    keep_extremes(series, i * count / buckets, (i + 1) * count / buckets, kept);
  }
  PointSeries result = picked(series, kept);
  result.of = count;
  return result;
}

PointSeries changes_of(const PointSeries& series, std::size_t points) {
  PointSeries changes;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool last = i + 1 == series.x.size();
    if (i == 0 || last || series.y[i] != series.y[i - 1]) changes.add(series.x[i], series.y[i]);
  }
  return thinned(changes, points);
}

Json rounded(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) < 1e15) {
    return static_cast<std::int64_t>(value);
  }
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

Json to_json(const PointSeries& series) {
  Json json = {{"x", Json::array()}, {"y", Json::array()}};
  for (const double x : series.x) json["x"].push_back(rounded(x, 15));
  for (const double y : series.y) json["y"].push_back(rounded(y));
  if (series.of > 0) json["of"] = series.of;
  return json;
}

}  // namespace bitcycle
