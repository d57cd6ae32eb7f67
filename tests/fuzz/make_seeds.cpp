// Writes valid inputs for the fuzz targets of the data layer: make_seeds CORPUS puts them into
// CORPUS/<target>/. A reader that meets its format only by chance is not fuzzed in a minute.

#include "data/pictures.h"
#include "data/small_archive.h"

#include <zlib.h>

namespace {

using bitcycle::test::Bytes;
using bitcycle::test::to_bytes;

Bytes idx_pair() {
  return to_bytes({10, 0, 0, 8, 1, 0, 0, 0, 2, 9, 0,                                     // labels
                   0,  0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6});  // pictures
}

Bytes cifar(int labels) {
  Bytes bytes(static_cast<std::size_t>(1 + labels + 3072));
  bytes[0] = static_cast<std::byte>(labels - 1);
  return bytes;
}

Bytes zipped(const Bytes& content) {
  Bytes bytes(1000);
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bitcycle::test;
  if (argc != 2) return 2;
  const std::filesystem::path corpus = argv[1];
  write(corpus / "idx/seed", idx_pair());
  write(corpus / "cifar/seed-10", cifar(1));
  write(corpus / "cifar/seed-100", cifar(2));
  write(corpus / "gzip/seed", zipped(to_bytes({'s', 'e', 'e', 'd'})));
  write(corpus / "jpeg/seed-grey", flat_jpeg(9, 7, {100}));
  write(corpus / "jpeg/seed-colour", noisy_jpeg(9, 7));
  write(corpus / "jpeg/seed-cmyk", flat_jpeg(9, 7, {1, 2, 3, 4}));
  write(corpus / "png/seed-grey",
        png({.width = 3, .height = 2, .colour = PngColour::grey}, {1, 2, 3, 4, 5, 6}));
  write(corpus / "png/seed-interlaced",
        png({.width = 2, .height = 2, .interlaced = true}, std::vector<std::uint8_t>(12, 9)));
  write(corpus / "archive/seed",
        make_archive({{"d/a", to_bytes({1, 2})}, {"../x", to_bytes({3})}, {"d/l", {}, "a"}}));
  write(corpus / "checksums/seed", "b1946ac92492d2347c6235b4d2611184  a b.bin\n");
}
