#include "train/metrics_log.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include <sstream>

#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using Json = nlohmann::ordered_json;

Json parse(const std::string& line) {
  return Json::parse(line, nullptr, /*allow_exceptions=*/false);
}

std::string text_of(const std::filesystem::path& metrics) {
  const auto bytes = read_file(metrics, ErrorCode::checkpoint);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_evaluation(const Json& line, const std::string& split) {
  return line.is_object() && line.value("type", Json()) == "evaluation" &&
         line.value("split", Json()) == split && line.value("step", Json()).is_number_integer() &&
         line.value("accuracy", Json()).is_number() && line.value("loss", Json()).is_number();
}

}  // namespace

std::string logged_run(const std::filesystem::path& metrics) {
  const std::string text = text_of(metrics);
  const Json first = parse(text.substr(0, text.find('\n')));
  if (first.is_object() && first.value("id", Json()).is_string()) return first["id"];
  throw Error(ErrorCode::checkpoint,
              metrics.string() + ":1: expected a line that says which run this is, with \"id\"",
              "The file was changed after the run stopped: restore it, or start a new run.");
}

std::vector<LoggedEvaluation> logged_evaluations(const std::filesystem::path& metrics,
                                                 const std::string& split, std::uint64_t length) {
  std::istringstream lines(text_of(metrics).substr(0, length));
  std::vector<LoggedEvaluation> found;
  for (std::string text; std::getline(lines, text);) {
    const Json line = parse(text);
    if (is_evaluation(line, split)) found.push_back({line["step"], split, line["accuracy"]});
  }
  return found;
}

}  // namespace bitcycle
