#include "data/cifar.h"

#include "data/damage.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr ImageShape kShape = {3, 32, 32};
constexpr std::size_t kPlane = 32 * 32;
constexpr std::size_t kPixels = 3 * kPlane;
constexpr int kSuperclasses = 20;

int classes_of(CifarKind kind) {
  return kind == CifarKind::cifar10 ? 10 : 100;
}
// CIFAR-100 puts the superclass before the class.
std::size_t label_bytes(CifarKind kind) {
  return kind == CifarKind::cifar10 ? 1 : 2;
}

void require_label(std::byte label, int limit, const char* what, std::size_t record,
                   const std::string& origin) {
  if (std::to_integer<int>(label) < limit) return;
  throw damaged(origin, fmt::format("{} from 0 to {}", what, limit - 1),
                fmt::format("{} in record {}", std::to_integer<int>(label), record));
}

void interleave(const std::byte* planes, std::uint8_t* pixels) {
  for (std::size_t i = 0; i < kPlane; ++i) {
    for (std::size_t p = i; p < kPixels; p += kPlane) {
      *pixels++ = std::to_integer<std::uint8_t>(planes[p]);
    }
  }
}

}  // namespace

PackedImages empty_cifar(CifarKind kind) {
  return {kShape, classes_of(kind), {}, {}};
}

void append_cifar(std::span<const std::byte> bytes, CifarKind kind, const std::string& origin,
                  PackedImages& images) {
  const std::size_t labels = label_bytes(kind);
  const std::size_t record = labels + kPixels;
  if (bytes.size() % record != 0) {
    throw damaged(origin, fmt::format("a whole number of records of {} bytes", record),
                  fmt::format("{} bytes, which is {} records and {} bytes", bytes.size(),
                              bytes.size() / record, bytes.size() % record));
  }
  if (bytes.empty()) throw damaged(origin, "at least one record", "an empty file");
  const std::size_t count = bytes.size() / record;
  const std::size_t before = images.pixels.size();
  images.pixels.resize(before + count * kPixels);
  for (std::size_t i = 0; i < count; ++i) {
    const auto sample = bytes.subspan(i * record, record);
    if (labels == 2) require_label(sample[0], kSuperclasses, "superclasses", i, origin);
    require_label(sample[labels - 1], images.classes, "labels", i, origin);
    images.labels.push_back(std::to_integer<std::uint8_t>(sample[labels - 1]));
    interleave(sample.data() + labels, images.pixels.data() + before + i * kPixels);
  }
}

}  // namespace bitcycle
