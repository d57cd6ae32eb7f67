#include "schedule/expression.h"

#include "bitcycle/base/error.h"

#include <charconv>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr const char* kHint =
    "Write NAME [BITS or MIN:MAX] [xCYCLES] [until FRACTION], joined by commas: "
    "\"static 4 until 0.5, CR 3:8 x4\".";

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> width(std::string_view text) {
  return text == "fp" ? std::optional(0) : number<int>(text);
}

struct Bounds {
  std::optional<int> min;
  int max;
};

// "3:8", or "3-8" as tables print it; "8" and "fp" state no lower bound.
std::optional<Bounds> bounds(std::string_view text) {
  const std::size_t colon = text.find_first_of(":-");
  const auto first = width(text.substr(0, colon));
  if (colon == text.npos) return first ? std::optional(Bounds{{}, *first}) : std::nullopt;
  const auto second = width(text.substr(colon + 1));
  if (!first || !second) return std::nullopt;
  return Bounds{first, *second};
}

class PartReader {
 public:
  PartReader(const std::string& text, const ScheduleSpec& defaults)
      : text_(text), words_(text), part_{defaults} {}

  SchedulePart read() {
    std::string word;
    if (!(words_ >> word)) fail("expected a schedule");
    const auto first = bounds(word);
    part_.spec.name = !first ? word : !first->min || first->min == first->max ? "static" : "CR";
    if (first) set(*first);
    while (words_ >> word) read_word(word);
    if (part_.spec.name == "static" && !part_.spec.min) part_.spec.min = part_.spec.max;
    return part_;
  }

 private:
  void read_word(const std::string& word) {
    if (word == "until") return read_until();
    const auto cycles = word[0] == 'x' ? number<int>(word.substr(1)) : std::nullopt;
    const auto range = bounds(word);
    if (cycles) {
      part_.spec.cycles = *cycles;
    } else if (range) {
      set(*range);
    } else {
      fail(fmt::format("cannot read \"{}\"", word));
    }
  }

  void read_until() {
    std::string word;
    words_ >> word;
    const auto fraction = number<double>(word);
    if (!fraction) fail("expected a fraction of the run after \"until\"");
    part_.until = *fraction;
  }

  void set(const Bounds& bounds) {
    part_.spec.min = bounds.min;
    part_.spec.max = bounds.max;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::usage, fmt::format("{} in the schedule \"{}\"", what, text_), kHint);
  }

  const std::string& text_;
  std::istringstream words_;
  SchedulePart part_;
};

void check_order(const std::vector<SchedulePart>& parts, const ScheduleSpec& spec) {
  double before = 0;
  for (const SchedulePart& part : parts) {
    const bool last = &part == &parts.back();
    if (last ? part.until == 1 : part.until > before && part.until < 1) {
      before = part.until;
      continue;
    }
    throw Error(ErrorCode::usage,
                fmt::format("every part of \"{}\" but the last needs \"until\" with a fraction "
                            "between 0 and 1, each above the one before",
                            spec.name),
                kHint);
  }
  if (parts.size() > 1 && (spec.start != 0 || spec.end != 1)) {
    throw Error(ErrorCode::usage,
                fmt::format("start and end do not go with the joined schedule \"{}\"", spec.name),
                "Say where each part ends with \"until\".");
  }
}

}  // namespace

std::vector<SchedulePart> parse_expression(const ScheduleSpec& spec) {
  std::vector<SchedulePart> parts;
  for (std::size_t begin = 0, end = 0; end != spec.name.npos; begin = end + 1) {
    end = spec.name.find(',', begin);
    parts.push_back(PartReader(spec.name.substr(begin, end - begin), spec).read());
  }
  check_order(parts, spec);
  return parts;
}

}  // namespace bitcycle
