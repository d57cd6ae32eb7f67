#include "data/pictures/picture.h"

#include "bitcycle/base/error.h"

#include "data/pictures/exif.h"
#include "data/pictures/jpeg.h"
#include "data/pictures/png.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view format;
  std::size_t at;
  std::string_view bytes;
};

constexpr std::array kSignatures = {Signature{"JPEG", 0, "\xff\xd8\xff"sv},
                                    Signature{"PNG", 0, "\x89PNG\r\n\x1a\n"sv},
                                    Signature{"GIF", 0, "GIF8"sv},
                                    Signature{"BMP", 0, "BM"sv},
                                    Signature{"TIFF", 0, "II*\0"sv},
                                    Signature{"TIFF", 0, "MM\0*"sv},
                                    Signature{"WebP", 8, "WEBP"sv},
                                    Signature{"AVIF", 4, "ftypavif"sv},
                                    Signature{"HEIC", 4, "ftypheic"sv},
                                    Signature{"HEIC", 4, "ftypmif1"sv},
                                    Signature{"JPEG 2000", 4, "jP  \r\n\x87\n"sv}};

bool has(std::span<const std::byte> bytes, const Signature& signature) {
  const auto wanted = std::as_bytes(std::span(signature.bytes));
  return bytes.size() >= signature.at + wanted.size() &&
         std::ranges::equal(bytes.subspan(signature.at, wanted.size()), wanted);
}

[[noreturn]] void refuse(std::span<const std::byte> bytes, const std::string& format,
                         const std::string& origin) {
  const std::string found = bytes.empty()    ? "is empty"
                            : format.empty() ? "is no picture"
                                             : fmt::format("is a {} picture", format);
  throw Error(ErrorCode::data, fmt::format("{} {}", origin, found),
              "JPEG and PNG are read: convert it, or move it out of the way.");
}

}  // namespace

std::string picture_format(std::span<const std::byte> bytes) {
  const auto found =
      std::ranges::find_if(kSignatures, [&](const Signature& s) { return has(bytes, s); });
  return found == kSignatures.end() ? "" : std::string(found->format);
}

bool is_read(const std::string& format) {
  return format == "JPEG" || format == "PNG";
}

PictureHeader read_picture_header(std::span<const std::byte> bytes, const std::string& origin) {
  const std::string format = picture_format(bytes);
  if (format == "PNG") return {read_png_shape(bytes, origin)};
  if (format == "JPEG") return {read_jpeg_shape(bytes, origin), exif_orientation(bytes) != 1};
  refuse(bytes, format, origin);
}

Image decode_picture(std::span<const std::byte> bytes, const std::string& origin) {
  const std::string format = picture_format(bytes);
  if (format == "PNG") return decode_png(bytes, origin);
  if (format == "JPEG") return decode_jpeg(bytes, origin);
  refuse(bytes, format, origin);
}

// The weights of ITU-R 601, in 65536ths.
Image grey(const Image& rgb) {
  Image result{{1, rgb.shape.height, rgb.shape.width}, {}};
  result.pixels.reserve(rgb.pixels.size() / 3);
  for (std::size_t i = 0; i + 2 < rgb.pixels.size(); i += 3) {
    const std::uint8_t* pixel = &rgb.pixels[i];
    result.pixels.push_back(static_cast<std::uint8_t>(
        (19595U * pixel[0] + 38470U * pixel[1] + 7471U * pixel[2] + 32768U) >> 16));
  }
  return result;
}

}  // namespace bitcycle
