#include "bitcycle/config/precision_policy.h"

#include "bitcycle/base/error.h"

#include <charconv>

namespace bitcycle {

EvaluationBits parse_evaluation_bits(std::string_view text) {
  using Kind = EvaluationBits::Kind;
  if (text == "max") return {Kind::schedule_max};
  if (text == "current") return {Kind::current};
  if (text == "fp" || text == "0") return {Kind::full};
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error != std::errc{} || end != text.data() + text.size() || bits < kMinBits ||
      bits > kMaxBits) {
    throw Error(ErrorCode::usage,
                "expected a width from 1 to 32, \"fp\", \"max\" or \"current\", found \"" +
                    std::string(text) + "\"",
                "Several widths are separated by commas, as in 3,4,6,8,fp.");
  }
  return {Kind::fixed, bits};
}

}  // namespace bitcycle
