#include "report/view/line_check.h"

#include "report/view/run_record.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

// A value that is not finite is null.
bool is_number(const Json& value) {
  return value.is_number() || value.is_null();
}

bool is_numbers_by_block(const Json& value) {
  const auto is_block = [](const Json& block) {
    return block.is_array() &&
           std::ranges::all_of(block, [](const Json& share) { return share.is_number(); });
  };
  return value.is_array() && std::ranges::all_of(value, is_block);
}

struct Kind {
  const char* expected;
  bool (*fits)(const Json&);
};

constexpr Kind kNumber = {"no number", is_number};
constexpr Kind kText = {"no text", [](const Json& value) { return value.is_string(); }};
constexpr Kind kTruth = {"neither true nor false",
                         [](const Json& value) { return value.is_boolean(); }};
constexpr Kind kList = {"no list", [](const Json& value) { return value.is_array(); }};
constexpr Kind kTable = {"no table", [](const Json& value) { return value.is_object(); }};
constexpr Kind kBlocks = {"no list of shares by block", is_numbers_by_block};

// By its name; of those that are not listed here, which are metrics above all, a number.
const Kind& kind_of(const std::string& member) {
  static const std::map<std::string, Kind> kinds = {
      {"type", kText},      {"backend", kText}, {"counting", kText}, {"id", kText},
      {"split", kText},     {"bits", kText},    {"best", kTruth},    {"from", kText},
      {"to", kText},        {"reason", kText},  {"by_bits", kList},  {"machine", kTable},
      {"directory", kText}, {"layers", kTable}, {"choices", kBlocks}};
  const auto known = kinds.find(member);
  return known == kinds.end() ? kNumber : known->second;
}

}  // namespace

void LineCheck::look_at(const Json& line, std::size_t number) {
  const bool placed = number_in(line, "step") == 0 || step_in(line) > 0;
  if (!placed) return tell("step", "no number of a step", number);
  for (const auto& [member, value] : line.items()) {
    const Kind& kind = kind_of(member);
    if (!kind.fits(value))
      tell(member, kind.expected, number);
    else if (member == "layers")
      look_at_layers(value, number);
  }
}

void LineCheck::look_at_layers(const Json& layers, std::size_t number) {
  for (const auto& [layer, roles] : layers.items()) {
    if (!kTable.fits(roles)) tell(layer, kTable.expected, number);
  }
}

void LineCheck::tell(const std::string& member, const std::string& expected, std::size_t number) {
  Fault& fault = faults_[member];
  if (++fault.lines > 1) return;
  fault.expected = expected;
  fault.first = number;
}

// A file that is damaged throughout shall not fill the page.
std::vector<std::string> LineCheck::notices() const {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> notices;
  for (const auto& [member, fault] : faults_) {
    if (notices.size() == kMost) {
      notices.push_back(fmt::format("So it is with {} more.", faults_.size() - kMost));
      break;
    }
    const std::string where = fault.lines == 1 ? fmt::format("line {} of {}", fault.first, file_)
                                               : fmt::format("{} lines of {}, line {} first,",
                                                             fault.lines, file_, fault.first);
    notices.push_back(
        fmt::format("\"{}\" in {} is {}, and left out.", member, where, fault.expected));
  }
  return notices;
}

}  // namespace bitcycle
