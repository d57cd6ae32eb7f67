#pragma once

// What the tests of the data layer share: files in a directory of their own, and errors by content.

#include "bitcycle/base/error.h"

#include "io/temporary_directory.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle::test {

using Bytes = std::vector<std::byte>;

inline Bytes to_bytes(const std::vector<int>& numbers) {
  Bytes bytes;
  for (int n : numbers) bytes.push_back(static_cast<std::byte>(n));
  return bytes;
}

inline void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline void write(const std::filesystem::path& path, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  write(path, Bytes(bytes.begin(), bytes.end()));
}

// Sets a variable of the environment for the life of a test; no value unsets it.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
};

// Expects an Error with this code whose message and hint, one after the other, contain every text.
inline void expect_error(const std::function<void()>& action, ErrorCode code,
                         const std::vector<std::string>& texts) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(name(error.code()), name(code)) << error.what();
    const std::string said = std::string(error.what()) + " | " + error.hint();
    for (const std::string& text : texts) EXPECT_THAT(said, testing::HasSubstr(text));
    return;
  }
  ADD_FAILURE() << "expected an error that says " << testing::PrintToString(texts);
}

}  // namespace bitcycle::test
