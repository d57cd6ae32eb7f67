#pragma once

// What a run has written, read back as JSON.

#include "bitcycle/io/file.h"

#include "io/io_testing.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

inline std::vector<nlohmann::json> json_lines(const std::filesystem::path& file) {
  std::istringstream text(text_of(read_file(file)));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline std::vector<nlohmann::json> lines_of(const std::filesystem::path& run,
                                            const std::string& type) {
  std::vector<nlohmann::json> lines = json_lines(run / "metrics.jsonl");
  std::erase_if(lines, [&](const nlohmann::json& line) { return line["type"] != type; });
  return lines;
}

inline nlohmann::json summary_of(const std::filesystem::path& run) {
  return nlohmann::json::parse(text_of(read_file(run / "summary.json")));
}

}  // namespace bitcycle
