#pragma once

// Memory traffic that the processor does not guess by itself.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bitcycle::integer {

// Rows that will be read next, fetched in shares while others are worked on: panels read a row in
// steps that the processor does not see as a stream.
class RowsAhead {
 public:
  RowsAhead(const std::uint8_t* rows, std::ptrdiff_t bytes, int shares)
      : rows_(rows), share_((bytes / shares + kLine - 1) / kLine * kLine) {}
  void fetch(int share) const {
    const std::uint8_t* p = rows_ + share * share_;
    for (std::ptrdiff_t i = 0; i < share_; i += kLine) __builtin_prefetch(p + i);
  }

 private:
  static constexpr std::ptrdiff_t kLine = 64;
  const std::uint8_t* rows_;
  std::ptrdiff_t share_;
};

// Tensors from this size on have left the caches before they are read again. A store that misses
// the caches first reads the line that it is about to overwrite; writing past them does not.
inline constexpr std::ptrdiff_t kStreamedBytes = 8 * 1024 * 1024;

// `from` is aligned as __m128i is.
inline void copy_past_caches(void* to, const void* from, std::ptrdiff_t bytes) {
#if defined(__SSE2__)
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i) == 0) {
    const std::ptrdiff_t whole = bytes / static_cast<std::ptrdiff_t>(sizeof(__m128i));
    for (std::ptrdiff_t i = 0; i < whole; ++i) {
      _mm_stream_si128(static_cast<__m128i*>(to) + i,
                       _mm_loadu_si128(static_cast<const __m128i*>(from) + i));
    }
    const std::ptrdiff_t done = whole * static_cast<std::ptrdiff_t>(sizeof(__m128i));
    to = static_cast<char*>(to) + done;
    from = static_cast<const char*>(from) + done;
    bytes -= done;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// Makes other threads see what was copied.
inline void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace bitcycle::integer
