#pragma once

// The lines of a run's .jsonl files, whatever state they are in: a file that is being written ends
// in half a line, one of a broken disk has others that cannot be read.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle {

struct LogLines {
  std::vector<nlohmann::ordered_json> lines;  // those that are JSON objects
  std::vector<std::size_t> numbers;           // of these in the file, from 1
  bool exists = true, readable = true;
  std::size_t damaged = 0;        // whole lines that are none
  std::size_t first_damaged = 0;  // the number of the first, from 1
  bool cut = false;               // whether the last line has no end

  // What to tell the reader of a page: "2 lines of metrics.jsonl ..."; empty where all is well.
  std::string notice(const std::string& file) const;
};

// A last line without its newline is still being written, and no damage.
LogLines read_log_lines(const std::filesystem::path& file);

// The first line, where it can be read; else null.
nlohmann::ordered_json first_log_line(const std::filesystem::path& file);

// The last whole line that can be read, and has a member of this name where one is named, looking
// at no more than the end of the file; else null.
nlohmann::ordered_json last_log_line(const std::filesystem::path& file,
                                     const std::string& member = "");

// A whole JSON file; null where it is missing, and a notice where it cannot be read.
nlohmann::ordered_json read_json_file(const std::filesystem::path& file,
                                      std::vector<std::string>& notices);

// The text of a file, or nothing where it cannot be read.
std::string text_or_nothing(const std::filesystem::path& file);

}  // namespace bitcycle
