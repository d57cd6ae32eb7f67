#include "data/text/byte_corpus.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "data/gzip.h"
#include "data/text/encode.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitcycle {
namespace fs = std::filesystem;
namespace {

void require_fractions(const CorpusOptions& options) {
  const bool possible =
      options.validation >= 0 && options.test >= 0 && options.validation + options.test < 1;
  if (possible) return;
  throw Error(ErrorCode::usage,
              fmt::format("expected fractions of at least 0 for validation and test, below 1 "
                          "together, found {} and {}",
                          options.validation, options.test));
}

void require_file(const fs::path& path) {
  if (path.empty()) {
    throw Error(ErrorCode::usage, "the dataset text needs to know which file it is",
                "Set data.root to a text file, plain or gzipped (.gz).");
  }
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::is_regular_file(path, ignored)) return;
  throw Error(ErrorCode::data,
              fmt::format("{}: expected a text file, found {}", path.string(),
                          fs::is_directory(path, ignored) ? "a directory" : "a pipe or device"),
              "Set data.root to the file itself; `cat` joins several into one.");
}

std::vector<std::byte> read_text(const fs::path& path) {
  require_file(path);
  std::vector<std::byte> bytes = read_file(path, ErrorCode::data);
  if (path.extension() != ".gz") return bytes;
  try {
    return gunzip(bytes, path.string());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    throw Error(error.code(), error.what(),
                "Pack it again (gzip), or set data.root to the text as it is.");
  }
}

// Where the text is cut: training first, then validation, then test.
struct Cuts {
  std::size_t validation;
  std::size_t test;
};

Cuts cuts(std::size_t size, const CorpusOptions& options) {
  const auto bytes = [&](double fraction) {
    return static_cast<std::size_t>(std::llround(fraction * static_cast<double>(size)));
  };
  const std::size_t test = size - bytes(options.test);
  return {test - std::min(test, bytes(options.validation)), test};
}

std::shared_ptr<const TextSplit> encoded(const SourceText& source, const Excerpt& excerpt) {
  return std::make_shared<const TextSplit>(encode_bytes(source, excerpt));
}

}  // namespace

Corpus open_byte_corpus(const CorpusOptions& options) {
  require_fractions(options);
  const std::vector<std::byte> bytes = read_text(options.root);
  const std::string origin = options.root.string();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    throw Error(ErrorCode::data, origin + ": expected text, found an empty file",
                "Put text into it, or set data.root to another file.");
  }
  const Cuts at = cuts(text.size(), options);
  const auto split = [&](std::size_t from, std::size_t to, const Part& part = {}) {
    return encoded({text.substr(from, to - from), origin}, {part, options.limit});
  };
  return {.level = TokenLevel::byte,
          .vocabulary = {},
          .train = split(0, at.validation, options.part),
          .validation = options.validation > 0 ? split(at.validation, at.test) : nullptr,
          .test = options.test > 0 ? split(at.test, text.size()) : nullptr};
}

}  // namespace bitcycle
