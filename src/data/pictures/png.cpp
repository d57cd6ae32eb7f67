#include "data/pictures/png.h"

#include "bitcycle/base/memory.h"

#include "data/damage.h"
#include "data/pictures/picture_size.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <png.h>

namespace bitcycle {
namespace {

constexpr int kChannels = 3;

// What libpng's callbacks see. libpng leaves a function by longjmp, which runs no destructors: so
// this and all that owns memory live outside the functions that it may leave.
struct Reading {
  std::span<const std::byte> left;
  char problem[128] = "";
};

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::strncpy(reading->problem, message, sizeof(reading->problem) - 1);
  png_longjmp(png, 1);
}

// A chunk for people (a text, a profile) that is not as it should be does not change a pixel.
void ignore(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep to, png_size_t count) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading->left.size()) png_error(png, "the file ends too early");
  std::memcpy(to, reading->left.data(), count);
  reading->left = reading->left.subspan(count);
}

class Decoder {
 public:
  Decoder(std::span<const std::byte> bytes, const std::string& origin)
      : origin_(origin), reading_{.left = bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading_, fail, ignore);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) throw std::bad_alloc();
    png_set_read_fn(png_, &reading_, take_bytes);
    // The product is what counts (require_picture_size); libpng knows limits of the sides alone.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  }
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  ImageShape read_shape() {
    require(begin());
    const std::int64_t width = png_get_image_width(png_, info_);
    const std::int64_t height = png_get_image_height(png_, info_);
    require_picture_size(width, height, origin_);
    return {kChannels, static_cast<int>(height), static_cast<int>(width)};
  }

  // Rows of height x width x 3.
  void read_pixels(std::span<png_bytep> rows) { require(read_rows(rows)); }

 private:
  void require(bool done) const {
    if (!done) throw damaged(origin_, "a PNG picture", fmt::format("\"{}\"", reading_.problem));
  }

  bool begin() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_info(png_, info_);
    return true;
  }

  bool read_rows(std::span<png_bytep> rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_scale_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) !=
        static_cast<png_size_t>(kChannels) * png_get_image_width(png_, info_)) {
      png_error(png_, "an unknown kind of pixels");
    }
    png_read_image(png_, rows.data());
    png_read_end(png_, nullptr);
    return true;
  }

  std::string origin_;
  Reading reading_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

ImageShape read_png_shape(std::span<const std::byte> bytes, const std::string& origin) {
  return Decoder(bytes, origin).read_shape();
}

Image decode_png(std::span<const std::byte> bytes, const std::string& origin) {
  Decoder decoder(bytes, origin);
  Image image{decoder.read_shape(), {}};
  const auto size = static_cast<std::size_t>(image.shape.elements());
  require_memory(size, fmt::format("{} ({} x {})", origin, image.shape.width, image.shape.height));
  image.pixels.resize(size);
  std::vector<png_bytep> rows;
  for (int y = 0; y < image.shape.height; ++y) {
    rows.push_back(image.pixels.data() + std::ptrdiff_t{y} * image.shape.width * kChannels);
  }
  decoder.read_pixels(rows);
  return image;
}

}  // namespace bitcycle
