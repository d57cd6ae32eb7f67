#include "data/gzip.h"

#include "bitcycle/base/memory.h"

#include "data/damage.h"

#include <algorithm>

#include <fmt/format.h>
#include <zlib.h>

namespace bitcycle {
namespace {

// zlib counts in 32 bits; one call sees at most this much of either buffer.
constexpr std::size_t kChunk = std::size_t{1} << 30;

class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
};

// Files may be several, one after the other: `cat a.gz b.gz`.
bool begins_member(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Bytef* zlib_pointer(const std::byte* bytes) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes));
}

}  // namespace

std::uint64_t stated_size(std::span<const std::byte> bytes) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 4); ++i) {
    size = size << 8 | std::to_integer<std::uint64_t>(bytes[bytes.size() - 1 - i]);
  }
  return size;
}

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& origin,
                              std::uint64_t longest) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  // One byte more than may come, to see that it does.
  std::vector<std::byte> out(std::min<std::size_t>(4 * bytes.size() + 4096, longest + 1));
  std::size_t used = 0;
  std::size_t taken = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    if (used == out.size()) {
      const std::size_t size = std::min<std::size_t>(2 * out.size(), longest + 1);
      require_memory(size - used, "the content of " + origin);
      out.resize(size);
    }
    const auto input = static_cast<uInt>(std::min(bytes.size() - taken, kChunk));
    const auto space = static_cast<uInt>(std::min(out.size() - used, kChunk));
    stream.next_in = zlib_pointer(bytes.data() + taken);
    stream.avail_in = input;
    stream.next_out = zlib_pointer(out.data() + used);
    stream.avail_out = space;
    status = inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    used += space - stream.avail_out;
    if (used > longest) {
      throw damaged(origin, fmt::format("content of at most {} bytes", longest), "more");
    }
    if (status == Z_STREAM_END && begins_member(bytes.subspan(taken))) {
      status = inflateReset(&stream);
    }
  }
  if (status == Z_BUF_ERROR) {
    throw damaged(origin, "the rest of the gzip data",
                  fmt::format("the end of the file at byte {}", taken));
  }
  if (status != Z_STREAM_END) {
    const char* reason = stream.msg != nullptr ? stream.msg : "not gzip data";
    throw damaged(origin, "intact gzip data", fmt::format("\"{}\" at byte {}", reason, taken));
  }
  if (taken != bytes.size()) {
    throw damaged(origin, "the end of the file after the gzip data",
                  fmt::format("{} bytes more", bytes.size() - taken));
  }
  out.resize(used);
  return out;
}

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& origin) {
  constexpr std::uint64_t kBestRatio = 1032;  // 258 bytes for two bits
  const std::uint64_t longest = kBestRatio * bytes.size();
  require_memory(std::min(stated_size(bytes), longest), "the content of " + origin);
  return gunzip(bytes, origin, longest);
}

}  // namespace bitcycle
