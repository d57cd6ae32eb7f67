#include "report/landscape/png_canvas.h"

#include "bitcycle/base/error.h"

#include <cmath>
#include <cstdint>

#include <agg_conv_stroke.h>
#include <agg_conv_transform.h>
#include <agg_gsv_text.h>
#include <agg_path_storage.h>
#include <agg_pixfmt_rgb.h>
#include <agg_rasterizer_scanline_aa.h>
#include <agg_renderer_base.h>
#include <agg_renderer_scanline.h>
#include <agg_rendering_buffer.h>
#include <agg_scanline_u.h>
#include <agg_trans_affine.h>
#include <png.h>

namespace bitcycle {
namespace {

constexpr double kDensity = 2;  // pixels to a unit
constexpr int kChannels = 3;

agg::rgba8 rgba(Colour colour) {
  return {static_cast<unsigned>(colour.red), static_cast<unsigned>(colour.green),
          static_cast<unsigned>(colour.blue)};
}

agg::path_storage path_of(const ContourLine& line) {
  agg::path_storage path;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const double x = kDensity * line[i].x, y = kDensity * line[i].y;
    i == 0 ? path.move_to(x, y) : path.line_to(x, y);
  }
  return path;
}

// A byte for each letter.
std::string ascii(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 && byte < 0xc0) continue;  // within a letter of UTF-8
    plain += byte >= 0x20 && byte < 0x7f ? c : '?';
  }
  return plain;
}

double share_before(TextAnchor anchor) {
  return anchor == TextAnchor::start ? 0 : anchor == TextAnchor::middle ? 0.5 : 1;
}

}  // namespace

struct PngCanvas::Implementation {
  Implementation(int width_, int height_)
      : width(width_),
        height(height_),
        pixels(static_cast<std::size_t>(width) * height * kChannels, 255),
        buffer(pixels.data(), static_cast<unsigned>(width), static_cast<unsigned>(height),
               width * kChannels),
        format(buffer),
        base(format) {}

  void render(Colour colour) {
    agg::render_scanlines_aa_solid(rasterizer, scanline, base, rgba(colour));
    rasterizer.reset();
  }

  int width, height;
  std::vector<std::uint8_t> pixels;
  agg::rendering_buffer buffer;
  agg::pixfmt_rgb24 format;
  agg::renderer_base<agg::pixfmt_rgb24> base;
  agg::rasterizer_scanline_aa<> rasterizer;
  agg::scanline_u8 scanline;
};

PngCanvas::PngCanvas(double width, double height)
    : implementation_(std::make_unique<Implementation>(static_cast<int>(kDensity * width),
                                                       static_cast<int>(kDensity * height))) {}
PngCanvas::~PngCanvas() = default;

void PngCanvas::fill(const std::vector<ContourLine>& outlines, Colour colour) {
  Implementation& self = *implementation_;
  self.rasterizer.filling_rule(agg::fill_even_odd);
  for (const ContourLine& line : outlines) {
    agg::path_storage path = path_of(line);
    path.close_polygon();
    self.rasterizer.add_path(path);
  }
  self.render(colour);
}

void PngCanvas::stroke(const ContourLine& line, Colour colour, double width) {
  Implementation& self = *implementation_;
  agg::path_storage path = path_of(line);
  agg::conv_stroke<agg::path_storage> outline(path);
  outline.width(kDensity * width);
  outline.line_join(agg::round_join);
  self.rasterizer.filling_rule(agg::fill_non_zero);
  self.rasterizer.add_path(outline);
  self.render(colour);
}

void PngCanvas::write(const PlanePoint& at, const std::string& text, const TextStyle& style) {
  Implementation& self = *implementation_;
  agg::gsv_text letters;
  const double height = 0.8 * kDensity * style.size;  // its letters are taller than their size says
  letters.flip(true);
  letters.size(height);
  const std::string plain = ascii(text);
  letters.text(plain.c_str());
  letters.start_point(-share_before(style.anchor) * letters.text_width(), 0);
  agg::conv_stroke<agg::gsv_text> strokes(letters);
  strokes.width((style.bold ? 0.17 : 0.115) * height);
  strokes.line_join(agg::round_join);
  strokes.line_cap(agg::round_cap);
  agg::trans_affine turn = agg::trans_affine_rotation(-style.angle);
  turn *= agg::trans_affine_translation(kDensity * at.x, kDensity * at.y);
  agg::conv_transform<agg::conv_stroke<agg::gsv_text>> turned(strokes, turn);
  self.rasterizer.filling_rule(agg::fill_non_zero);
  self.rasterizer.add_path(turned);
  self.render(style.colour);
}

std::vector<std::byte> PngCanvas::finish() const {
  const Implementation& self = *implementation_;
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(self.width);
  image.height = static_cast<png_uint_32>(self.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  const int done = png_image_write_to_memory(&image, bytes.data(), &size, /*convert_to_8_bit=*/0,
                                             self.pixels.data(), 0, nullptr);
  if (done == 0) throw Error(ErrorCode::memory, std::string("no picture: ") + image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace bitcycle
