#include "data/synthetic.h"

namespace bitcycle {
namespace {

constexpr int kCells = 4;  // a side

// Byte i of the key's stream.
std::uint8_t byte_of(RandomKey key, std::uint64_t i) {
  return static_cast<std::uint8_t>(key.bits(i / 8) >> (8 * (i % 8)));
}

class Synthetic final : public Dataset {
 public:
  Synthetic(const SyntheticOptions& options, RandomKey key, Split split)
      : shape_(options.shape),
        classes_(options.classes),
        size_(split == Split::test ? options.test_size : options.train_size),
        patterns_(key.derive("pattern")),
        samples_(key.derive(split == Split::test ? "test" : "train")) {}

  std::int64_t size() const override { return size_; }
  int classes() const override { return classes_; }
  // In turn, so that every class is there as often as any other.
  int label(std::int64_t index) const override { return static_cast<int>(index % classes_); }

  Image image(std::int64_t index) const override {
    const RandomKey pattern = patterns_.derive(static_cast<std::uint64_t>(label(index)));
    const RandomKey noise = samples_.derive(static_cast<std::uint64_t>(index));
    Image image{shape_, {}};
    image.pixels.reserve(static_cast<std::size_t>(shape_.elements()));
    for (int y = 0; y < shape_.height; ++y) {
      for (int x = 0; x < shape_.width; ++x) add_pixel(pattern, noise, y, x, image.pixels);
    }
    return image;
  }

 private:
  void add_pixel(RandomKey pattern, RandomKey noise, int y, int x,
                 std::vector<std::uint8_t>& pixels) const {
    const int cell = y * kCells / shape_.height * kCells + x * kCells / shape_.width;
    for (int c = 0; c < shape_.channels; ++c) {
      const auto place = static_cast<std::uint64_t>(cell * shape_.channels + c);
      const int level = (byte_of(pattern, place) + byte_of(noise, pixels.size())) / 2;
      pixels.push_back(static_cast<std::uint8_t>(level));
    }
  }

  ImageShape shape_;
  int classes_;
  std::int64_t size_;
  RandomKey patterns_;
  RandomKey samples_;
};

}  // namespace

std::shared_ptr<const Dataset> make_synthetic(const SyntheticOptions& options, RandomKey key,
                                              Split split) {
  return std::make_shared<Synthetic>(options, key, split);
}

}  // namespace bitcycle
