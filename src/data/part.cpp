#include "bitcycle/data/part.h"

#include "bitcycle/base/error.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace bitcycle {
namespace {

// Enough for every dataset, and small enough that products of two do not overflow.
constexpr std::int64_t kMostParts = 1'000'000;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

[[noreturn]] void fail(std::string_view text, const std::string& expected) {
  throw Error(ErrorCode::usage, fmt::format("expected {}, found \"{}\"", expected, text),
              "\"1/2\" is the first of two halves of the training set, \"1/1\" all of it.");
}

}  // namespace

Part parse_part(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto number = number_in(text.substr(0, slash));
  const auto of = slash == text.npos ? std::nullopt : number_in(text.substr(slash + 1));
  if (!number || !of) fail(text, "a part such as \"1/2\"");
  if (*of < 1 || *of > kMostParts) fail(text, fmt::format("from 1 to {} parts", kMostParts));
  if (*number < 1 || *number > *of) {
    fail(text, *of == 1 ? "part 1 of 1" : fmt::format("one of the parts 1 to {} of {}", *of, *of));
  }
  return {*number, *of};
}

std::string to_text(const Part& part) {
  return fmt::format("{}/{}", part.number, part.of);
}

}  // namespace bitcycle
