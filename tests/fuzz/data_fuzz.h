#pragma once

// What every reader of the data layer promises: any bytes give a value or Error(data).

#include "bitcycle/base/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>

namespace bitcycle {

using Input = std::span<const std::byte>;

inline Input input_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline void expect_value_or_data_error(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) std::abort();
  }
}

inline void expect(bool truth) {
  if (!truth) std::abort();
}

}  // namespace bitcycle
