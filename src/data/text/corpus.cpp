#include "bitcycle/data/text/corpus.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/fingerprint.h"
#include "bitcycle/base/nearest.h"

#include "data/known_datasets.h"
#include "data/text/byte_corpus.h"
#include "data/text/word_corpus.h"

#include <algorithm>
#include <cassert>
#include <span>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::int64_t kByteValues = 256;

std::vector<std::string> names_of_corpora() {
  std::vector<std::string> names;
  for (const KnownDataset& known : known_datasets()) {
    if (known.kind == DatasetKind::text) names.push_back(known.name);
  }
  names.push_back("text");
  return names;
}

Corpus open_unchecked(const CorpusOptions& options) {
  if (!is_corpus(options.name)) {
    throw Error(ErrorCode::usage, fmt::format("there is no corpus \"{}\"", options.name),
                suggest(options.name, corpus_names()));
  }
  if (options.name == "text") return open_byte_corpus(options);
  return open_word_corpus(*known_dataset(options.name), options, Comparison::listed);
}

void require_two_tokens(const std::shared_ptr<const TextSplit>& split, const char* part) {
  if (!split || split->tokens.size() >= 2) return;
  throw Error(
      ErrorCode::data,
      fmt::format("{}: expected at least 2 tokens to {} on, one to predict the other from, "
                  "found {}",
                  split->origin, part, split->tokens.size()),
      "Use a longer text, or more of it (data.validation, data.test, data.limit, data.part).");
}

}  // namespace

const std::vector<std::string>& corpus_names() {
  static const std::vector<std::string> names = names_of_corpora();
  return names;
}

bool is_corpus(const std::string& name) {
  return std::ranges::find(corpus_names(), name) != corpus_names().end();
}

std::int64_t Corpus::vocabulary_size() const {
  return level == TokenLevel::byte ? kByteValues : vocabulary.size();
}

std::string Corpus::fingerprint() const {
  Fingerprint print;
  print.add(vocabulary_size());
  print.add(vocabulary.text());
  for (const auto& split : {train, validation, test}) {
    print.add(split ? std::as_bytes(std::span(split->tokens)) : std::span<const std::byte>());
  }
  return print.text();
}

Corpus open_corpus(const CorpusOptions& options) {
  Corpus corpus = open_unchecked(options);
  require_two_tokens(corpus.train, "train");
  require_two_tokens(corpus.validation, "validate");
  require_two_tokens(corpus.test, "test");
  return corpus;
}

void check_corpus(const std::string& name, const std::filesystem::path& root) {
  const KnownDataset* known = known_dataset(name);
  assert(known != nullptr && known->kind == DatasetKind::text);
  open_word_corpus(*known, {.name = name, .root = root}, Comparison::listed_or_official);
}

}  // namespace bitcycle
