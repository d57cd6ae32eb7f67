#include "report/printable.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::size_t kColumns = 80;

bool is_control(unsigned char c) {
  return (c < 0x20 && c != '\n') || c == 0x7f;
}

// U+0080 to U+009F in UTF-8, which some terminals obey too.
bool is_long_control(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  return byte(at) == 0xc2 && at + 1 < text.size() && byte(at + 1) >= 0x80 && byte(at + 1) < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (is_long_control(text, i)) {
      shown += fmt::format("\\xc2\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else if (is_control(byte)) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) {
    if (c == '\n')
      line += "\\x0a";
    else
      line += c;
  }
  return line;
}

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string lines, margin;
  std::size_t begin = 0;
  while (text.size() - begin > kColumns - margin.size()) {
    std::size_t end = text.rfind(' ', begin + kColumns - margin.size());
    if (end == text.npos || end <= begin) end = text.find(' ', begin);
    if (end == text.npos) break;
    lines += margin + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
    margin.assign(indent, ' ');
  }
  return lines + margin + text.substr(begin) + "\n";
}

}  // namespace bitcycle
