#include "data/pictures.h"

#include "bitcycle/base/random.h"

#include <memory>

#include <png.h>
#include <turbojpeg.h>
#include <zlib.h>

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

Bytes with_orientation(const Bytes& jpeg, int orientation, char order) {
  const auto number = [&](int value, int size) {
    std::vector<int> bytes;
    for (int i = 0; i < size; ++i) bytes.push_back(value >> 8 * (order == 'I' ? i : size - 1 - i));
    return bytes;
  };
  std::vector<int> exif = {'E', 'x', 'i', 'f', 0, 0, order, order};
  for (const auto& [value, size] : std::vector<std::pair<int, int>>{{42, 2},
                                                                    {8, 4},
                                                                    {1, 2},
                                                                    {0x0112, 2},
                                                                    {3, 2},
                                                                    {1, 4},
                                                                    {orientation, 2},
                                                                    {0, 2},
                                                                    {0, 4}}) {
    for (const int byte : number(value, size)) exif.push_back(byte & 0xff);
  }
  const int length = static_cast<int>(exif.size()) + 2;
  std::vector<int> segment = {0xff, 0xe1, length >> 8, length & 0xff};
  segment.insert(segment.end(), exif.begin(), exif.end());
  const Bytes bytes = to_bytes(segment);
  Bytes with = jpeg;
  with.insert(with.begin() + 2, bytes.begin(), bytes.end());
  return with;
}

Bytes png(const PngOptions& options, const std::vector<std::uint8_t>& rows) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  Bytes bytes;
  png_set_write_fn(
      png, &bytes,
      [](png_structp writer, png_bytep data, png_size_t size) {
        auto* out = static_cast<Bytes*>(png_get_io_ptr(writer));
        const auto* from = reinterpret_cast<const std::byte*>(data);
        out->insert(out->end(), from, from + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(options.width),
               static_cast<png_uint_32>(options.height), options.depth,
               static_cast<int>(options.colour),
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette;
  for (std::size_t i = 0; i < options.palette.size(); i += 3) {
    palette.push_back({options.palette[i], options.palette[i + 1], options.palette[i + 2]});
  }
  if (!palette.empty()) png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  if (!options.transparency.empty()) {
    png_set_tRNS(png, info, options.transparency.data(),
                 static_cast<int>(options.transparency.size()), nullptr);
  }
  png_write_info(png, info);
  const std::size_t row = rows.size() / static_cast<std::size_t>(options.height);
  std::vector<std::uint8_t> copy = rows;
  std::vector<png_bytep> pointers;
  for (int y = 0; y < options.height; ++y) {
    pointers.push_back(copy.data() + row * static_cast<std::size_t>(y));
  }
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

Bytes png_claiming(std::uint32_t width, std::uint32_t height) {
  std::vector<int> chunk = {'I', 'H', 'D', 'R'};
  for (const std::uint32_t side : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) chunk.push_back(side >> shift & 0xff);
  }
  for (const int value : {8, 2, 0, 0, 0}) chunk.push_back(value);
  const Bytes content = to_bytes(chunk);
  const auto sum = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  Bytes bytes = to_bytes({0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13});
  bytes.insert(bytes.end(), content.begin(), content.end());
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::byte>(sum >> shift & 0xff));
  }
  const Bytes pixels = to_bytes({0, 0, 0, 0, 'I', 'D', 'A', 'T'});
  bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  return bytes;
}

}  // namespace bitcycle::test
