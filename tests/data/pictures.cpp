#include "data/pictures.h"

#include "bitcycle/base/random.h"

#include <memory>

#include <turbojpeg.h>

namespace bitcycle::test {
namespace {

Bytes encode(const std::vector<std::uint8_t>& pixels, int width, int height, TJPF format) {
  const std::unique_ptr<void, decltype(&tjDestroy)> encoder(tjInitCompress(), tjDestroy);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  const int result =
      tjCompress2(encoder.get(), pixels.data(), width, 0, height, format, &data, &size,
                  format == TJPF_GRAY ? TJSAMP_GRAY : TJSAMP_444, 95, TJFLAG_ACCURATEDCT);
  EXPECT_EQ(result, 0) << tjGetErrorStr2(encoder.get());
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  Bytes jpeg(bytes, bytes + size);
  tjFree(data);
  return jpeg;
}

}  // namespace

Bytes flat_jpeg(int width, int height, const std::vector<std::uint8_t>& colour) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) {
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  const TJPF format = colour.size() == 1 ? TJPF_GRAY : colour.size() == 3 ? TJPF_RGB : TJPF_CMYK;
  return encode(pixels, width, height, format);
}

Bytes noisy_jpeg(int width, int height) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(3 * width * height));
  const RandomKey key(1);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(key.bits(i));
  }
  return encode(pixels, width, height, TJPF_RGB);
}

}  // namespace bitcycle::test
