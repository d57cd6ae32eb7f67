#include "bitcycle/data/augment.h"

#include "data/resample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

namespace bitcycle {
namespace {

// Which number of the sample's key decides what.
enum Draw : std::uint64_t { kFlip, kTop, kLeft, kFirstAttempt };
constexpr int kAttempts = 10;
constexpr int kDrawsAnAttempt = 4;

constexpr double kSmallestArea = 0.08;
constexpr double kWidestAspect = 4.0 / 3.0;

int rounded(double value) {
  return static_cast<int>(std::nearbyint(value));
}

// The shorter side becomes `side`; the longer follows, cut to whole pixels.
ImageShape resized_shape(const ImageShape& in, int side) {
  if (side == 0) return in;
  const auto longer = [&](int large, int small) {
    return static_cast<int>(std::int64_t{side} * large / small);
  };
  if (in.width <= in.height) return {in.channels, longer(in.height, in.width), side};
  return {in.channels, side, longer(in.width, in.height)};
}

// A window of a drawn area and aspect, if it fits into the picture.
std::optional<Window> drawn_window(const ImageShape& in, RandomKey key, std::uint64_t draw) {
  const double share = kSmallestArea + (1 - kSmallestArea) * key.uniform(draw);
  const double area = share * in.height * in.width;
  const double aspect = std::exp((2 * key.uniform(draw + 1) - 1) * std::log(kWidestAspect));
  Window window{0, 0, rounded(std::sqrt(area / aspect)), rounded(std::sqrt(area * aspect))};
  if (window.height < 1 || window.height > in.height) return std::nullopt;
  if (window.width < 1 || window.width > in.width) return std::nullopt;
  const auto place = [&](std::uint64_t i, int room) {
    return static_cast<int>(key.below(i, static_cast<std::uint64_t>(room) + 1));
  };
  window.top = place(draw + 2, in.height - window.height);
  window.left = place(draw + 3, in.width - window.width);
  return window;
}

// The largest central window with an allowed aspect, for pictures so narrow that no draw fits.
Window central_window(const ImageShape& in) {
  const int height = std::min(in.height, rounded(in.width * kWidestAspect));
  const int width = std::min(in.width, rounded(in.height * kWidestAspect));
  return {(in.height - height) / 2, (in.width - width) / 2, height, width};
}

Window random_resized_window(const ImageShape& in, RandomKey key) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto draw = static_cast<std::uint64_t>(kFirstAttempt + attempt * kDrawsAnAttempt);
    if (const auto window = drawn_window(in, key, draw)) return *window;
  }
  return central_window(in);
}

// Where the crop starts along one axis; `room` is what the padded picture has beyond the crop.
int crop_start(Crop crop, int room, RandomKey key, Draw draw) {
  if (crop == Crop::random && room > 0) {
    return static_cast<int>(key.below(draw, static_cast<std::uint64_t>(room) + 1));
  }
  return rounded(room / 2.0);
}

// The window may reach beyond the picture; what lies there is black.
Window crop_window(const ImageShape& in, const Augmentation& augmentation, RandomKey key) {
  const ImageShape out = output_shape(augmentation, in);
  const int pad = augmentation.pad;
  const auto start = [&](int size, int crop, Draw draw) {
    return crop_start(augmentation.crop, size + 2 * pad - crop, key, draw) - pad;
  };
  return {start(in.height, out.height, kTop), start(in.width, out.width, kLeft), out.height,
          out.width};
}

// Normalisation of one channel as value * scale + shift.
struct Linear {
  float scale = 1;
  float shift = 0;
};

std::vector<Linear> normalisation(const Augmentation& augmentation, int channels) {
  std::vector<Linear> result;
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const auto of = [c](const std::vector<float>& v) { return v[v.size() == 1 ? 0 : c]; };
    const float deviation = of(augmentation.deviation);
    result.push_back({1 / (255 * deviation), -of(augmentation.mean) / deviation});
  }
  return result;
}

// Writes the window, mirrored if asked, and normalised.
void write(const Image& image, const Window& window, bool mirror, const Augmentation& augmentation,
           std::span<float> out) {
  const ImageShape& in = image.shape;
  const std::vector<Linear> linear = normalisation(augmentation, in.channels);
  const std::vector<std::uint8_t> black(linear.size(), 0);
  float* to = out.data();
  for (int y = window.top; y < window.top + window.height; ++y) {
    for (int i = 0; i < window.width; ++i) {
      const int x = window.left + (mirror ? window.width - 1 - i : i);
      const bool inside = y >= 0 && y < in.height && x >= 0 && x < in.width;
      const std::uint8_t* pixel =
          inside ? &image.pixels[(static_cast<std::size_t>(y) * static_cast<std::size_t>(in.width) +
                                  static_cast<std::size_t>(x)) *
                                 linear.size()]
                 : black.data();
      for (std::size_t c = 0; c < linear.size(); ++c) {
        *to++ = static_cast<float>(pixel[c]) * linear[c].scale + linear[c].shift;
      }
    }
  }
}

Window whole(const ImageShape& shape) {
  return {0, 0, shape.height, shape.width};
}

Augmentation normalised(const std::string& dataset) {
  if (dataset == "fashion_mnist") return {.mean = {0.2860f}, .deviation = {0.3530f}};
  if (dataset == "cifar10" || dataset == "cifar100") {
    return {.mean = {0.4914f, 0.4822f, 0.4465f}, .deviation = {0.2023f, 0.1994f, 0.2010f}};
  }
  if (dataset == "image_folder") {
    return {.mean = {0.485f, 0.456f, 0.406f}, .deviation = {0.229f, 0.224f, 0.225f}};
  }
  return {.mean = {0.5f}, .deviation = {0.25f}};
}

}  // namespace

Augmentation training_augmentation(const std::string& dataset, int image_size) {
  Augmentation augmentation = normalised(dataset);
  augmentation.flip = Flip::random;
  if (dataset == "image_folder") {
    augmentation.crop = Crop::random_resized;
    augmentation.size = image_size;
    return augmentation;
  }
  augmentation.crop = Crop::random;
  augmentation.pad = dataset == "fashion_mnist" ? 2 : 4;
  return augmentation;
}

Augmentation evaluation_augmentation(const std::string& dataset, int image_size) {
  Augmentation augmentation = normalised(dataset);
  if (dataset == "image_folder") {
    augmentation.resize = rounded(image_size * 256.0 / 224.0);
    augmentation.crop = Crop::center;
    augmentation.size = image_size;
  }
  return augmentation;
}

ImageShape output_shape(const Augmentation& augmentation, const ImageShape& in) {
  if (augmentation.crop != Crop::none && augmentation.size > 0) {
    return {in.channels, augmentation.size, augmentation.size};
  }
  return resized_shape(in, augmentation.resize);
}

void augment(const Image& image, const Augmentation& augmentation, RandomKey key,
             std::span<float> out) {
  assert(std::ssize(out) == output_shape(augmentation, image.shape).elements());
  const bool mirror = augmentation.flip == Flip::random && key.uniform(kFlip) < 0.5;
  if (augmentation.crop == Crop::random_resized) {
    const Image part = cut(image, random_resized_window(image.shape, key));
    const Image scaled = resize(part, augmentation.size, augmentation.size);
    return write(scaled, whole(scaled.shape), mirror, augmentation, out);
  }
  if (augmentation.resize == 0) {
    return write(image, crop_window(image.shape, augmentation, key), mirror, augmentation, out);
  }
  const ImageShape shape = resized_shape(image.shape, augmentation.resize);
  const Image scaled = resize(image, shape.height, shape.width);
  write(scaled, crop_window(shape, augmentation, key), mirror, augmentation, out);
}

}  // namespace bitcycle
