#include "report/view/log_lines.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "io/is_there.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json parse(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string text_of(const fs::path& file) {
  const auto bytes = read_regular_file(file);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_regular(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored);
}

}  // namespace

std::string text_or_nothing(const fs::path& file) {
  try {
    return text_of(file);
  } catch (const Error&) {
    return "";
  }
}

LogLines read_log_lines(const fs::path& file) {
  LogLines log;
  log.exists = is_there(file);
  std::string text;
  try {
    text = text_of(file);
  } catch (const Error&) {
    log.readable = false;
  }
  std::size_t begin = 0, number = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    ++number;
    Json line = parse(std::string_view(text).substr(begin, end - begin));
    if (line.is_object()) {
      log.lines.push_back(std::move(line));
      log.numbers.push_back(number);
    } else if (++log.damaged == 1) {
      log.first_damaged = number;
    }
  }
  log.cut = begin < text.size();
  return log;
}

Json first_log_line(const fs::path& file) {
  if (!is_regular(file)) return nullptr;
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  std::getline(stream, line);
  Json json = parse(line);
  return json.is_object() && !stream.eof() ? json : Json();
}

Json last_log_line(const fs::path& file, const std::string& member) {
  constexpr std::streamoff kEnd = 16'384;
  if (!is_regular(file)) return nullptr;
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream ? static_cast<std::streamoff>(stream.tellg()) : 0;
  stream.seekg(std::max<std::streamoff>(0, size - kEnd));
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  while (true) {
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos) return nullptr;
    text.resize(end);
    const std::size_t before = text.rfind('\n');
    const Json line =
        parse(std::string_view(text).substr(before == std::string::npos ? 0 : before + 1));
    if (line.is_object() && (member.empty() || line.contains(member))) return line;
  }
}

std::string LogLines::notice(const std::string& file) const {
  if (!exists) return file + " is missing.";
  if (!readable) return file + " cannot be read.";
  if (damaged == 0) return "";
  if (damaged == 1) return fmt::format("Line {} of {} cannot be read.", first_damaged, file);
  return fmt::format("{} lines of {} cannot be read, line {} first.", damaged, file, first_damaged);
}

Json read_json_file(const fs::path& file, std::vector<std::string>& notices) {
  if (!is_there(file)) return nullptr;
  Json json = parse(text_or_nothing(file));
  if (json.is_object()) return json;
  notices.push_back(file.filename().string() + " cannot be read.");
  return nullptr;
}

}  // namespace bitcycle
