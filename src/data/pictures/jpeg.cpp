#include "data/pictures/jpeg.h"

#include "bitcycle/base/memory.h"

#include "data/damage.h"
#include "data/pictures/picture_size.h"

#include <memory>

#include <fmt/format.h>
#include <turbojpeg.h>

namespace bitcycle {
namespace {

struct Header {
  int width = 0;
  int height = 0;
  int colours = 0;
};

const unsigned char* tj_pointer(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string first_bytes(std::span<const std::byte> bytes) {
  std::string text;
  for (std::byte b : bytes.first(std::min<std::size_t>(bytes.size(), 4))) {
    text += fmt::format("{:02x} ", std::to_integer<int>(b));
  }
  return text.empty() ? "an empty file" : text + "at its start";
}

Header read_header(tjhandle decoder, std::span<const std::byte> bytes, const std::string& origin) {
  Header header;
  int subsampling = 0;
  if (tjDecompressHeader3(decoder, tj_pointer(bytes), bytes.size(), &header.width, &header.height,
                          &subsampling, &header.colours) != 0) {
    throw damaged(origin, "a JPEG picture",
                  fmt::format("\"{}\" ({})", tjGetErrorStr2(decoder), first_bytes(bytes)));
  }
  require_picture_size(header.width, header.height, origin);
  return header;
}

// Adobe's CMYK files, the only ones in use, store 255 for "no ink".
std::vector<std::uint8_t> cmyk_to_rgb(const std::vector<std::uint8_t>& cmyk) {
  std::vector<std::uint8_t> rgb;
  rgb.reserve(cmyk.size() / 4 * 3);
  for (std::size_t i = 0; i < cmyk.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) {
      rgb.push_back(static_cast<std::uint8_t>((cmyk[i + c] * cmyk[i + 3] + 127) / 255));
    }
  }
  return rgb;
}

using DecoderHandle = std::unique_ptr<void, decltype(&tjDestroy)>;

DecoderHandle open_decoder() {
  DecoderHandle decoder(tjInitDecompress(), tjDestroy);
  if (!decoder) throw std::bad_alloc();
  return decoder;
}

}  // namespace

ImageShape read_jpeg_shape(std::span<const std::byte> bytes, const std::string& origin) {
  const Header header = read_header(open_decoder().get(), bytes, origin);
  return {3, header.height, header.width};
}

Image decode_jpeg(std::span<const std::byte> bytes, const std::string& origin) {
  const DecoderHandle decoder = open_decoder();
  const Header header = read_header(decoder.get(), bytes, origin);
  const bool cmyk = header.colours == TJCS_CMYK || header.colours == TJCS_YCCK;
  const TJPF format = cmyk ? TJPF_CMYK : TJPF_RGB;
  const std::size_t size = static_cast<std::size_t>(header.width) *
                           static_cast<std::size_t>(header.height) * (cmyk ? 4 : 3);
  require_memory(size, fmt::format("{} ({} x {})", origin, header.width, header.height));
  Image image{{3, header.height, header.width}, {}};
  image.pixels.resize(size);
  // The accurate transform gives the same pixels on every instruction set; the limit on scans stops
  // files that are small but take minutes.
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;
  if (tjDecompress2(decoder.get(), tj_pointer(bytes), bytes.size(), image.pixels.data(),
                    header.width, 0, header.height, format, flags) != 0) {
    throw damaged(origin, fmt::format("a JPEG picture of {} x {}", header.width, header.height),
                  fmt::format("\"{}\"", tjGetErrorStr2(decoder.get())));
  }
  if (cmyk) image.pixels = cmyk_to_rgb(image.pixels);
  return image;
}

}  // namespace bitcycle
