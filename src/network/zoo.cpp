#include "bitcycle/network/zoo.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/network/language_model_kind.h"

#include "network/families.h"

#include <algorithm>
#include <charconv>

namespace bitcycle {
namespace {

constexpr std::string_view kCifar = "cifar_";
constexpr std::string_view kCifarResNet = "cifar_resnet";
constexpr int kListedDepths[] = {8, 14, 20, 38, 74, 110, 152, 164};
constexpr int kImageNetDepths[] = {18, 34, 50};

// Bounds that keep every count of this library inside 64 bits.
constexpr int kMaxDepth = 10000;
constexpr int kMaxSide = 1 << 14;
constexpr int kMaxChannels = 1 << 12;
constexpr int kMaxClasses = 1 << 24;

void check_range(const std::string& what, int value, int max) {
  if (value >= 1 && value <= max) return;
  throw Error(ErrorCode::usage,
              what + " must be 1 to " + std::to_string(max) + ", found " + std::to_string(value));
}

void check(const ImageShape& input, int classes) {
  check_range("the number of classes", classes, kMaxClasses);
  check_range("the number of input channels", input.channels, kMaxChannels);
  check_range("the height of the images", input.height, kMaxSide);
  check_range("the width of the images", input.width, kMaxSide);
}

// The number that follows `prefix` in `name`; nothing when `name` has another form.
std::optional<int> depth_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  int depth = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), depth);
  // One spelling a network: no sign, no leading zeros, nothing behind the number.
  if (depth <= 0 || digits != std::to_string(depth)) return std::nullopt;
  return depth;
}

void check_cifar_depth(const std::string& name, int depth) {
  if (depth >= 8 && depth <= kMaxDepth && depth % 6 == 2) return;
  const int nearest = 6 * ((std::clamp(depth, 8, kMaxDepth - 6) + 1) / 6) + 2;
  throw Error(ErrorCode::usage,
              "\"" + name + "\" is no network: a CIFAR ResNet has a depth of 6n+2, at most " +
                  std::to_string(kMaxDepth),
              "Did you mean \"" + std::string(kCifarResNet) + std::to_string(nearest) + "\"?");
}

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo()) names.push_back(entry.name);
  for (const LanguageModelEntry& entry : language_models()) names.emplace_back(entry.name);
  throw Error(ErrorCode::usage, "there is no network \"" + name + "\"",
              suggest(name, names) + " `bitcycle models` lists all.");
}

}  // namespace

Network make_network(std::string_view name_view, const NetworkOptions& options) {
  const std::string name(name_view);
  const bool cifar = name.starts_with(kCifar);
  const int classes = options.classes.value_or(cifar ? 10 : 1000);
  const ImageShape input =
      options.input.value_or(cifar ? ImageShape{3, 32, 32} : ImageShape{3, 224, 224});
  check(input, classes);
  if (name == "cifar_mobilenet_v2") return cifar_mobilenet_v2(name, input, classes);
  if (const auto depth = depth_in(name, kCifarResNet)) {
    check_cifar_depth(name, *depth);
    return cifar_resnet(name, *depth, input, classes);
  }
  for (const int depth : kImageNetDepths) {
    if (depth_in(name, "resnet") == depth) return imagenet_resnet(name, depth, input, classes);
  }
  throw_unknown(name);
}

std::vector<ZooEntry> zoo() {
  std::vector<ZooEntry> entries;
  for (const int depth : kListedDepths) {
    const std::string blocks = std::to_string((depth - 2) / 6);
    entries.push_back({std::string(kCifarResNet) + std::to_string(depth),
                       "CIFAR ResNet, 3 groups of " + blocks + " basic blocks", 10});
  }
  entries.push_back({"cifar_mobilenet_v2", "MobileNetV2 for 32x32 images", 10});
  entries.push_back({"resnet18", "ImageNet ResNet, basic blocks", 1000});
  entries.push_back({"resnet34", "ImageNet ResNet, basic blocks", 1000});
  entries.push_back({"resnet50", "ImageNet ResNet, bottlenecks with the stride on the 3x3", 1000});
  return entries;
}

}  // namespace bitcycle
