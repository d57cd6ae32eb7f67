// Which sizes no language model has.

#include "bitcycle/base/error.h"
#include "bitcycle/network/language.h"
#include "bitcycle/network/language_model_kind.h"

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::int64_t kLargestSize = 16'777'216;  // 2^24: products of two sizes stay far from 2^63

void expect(bool holds, const std::string& message, const std::string& hint) {
  if (!holds) throw Error(ErrorCode::usage, message, hint);
}

void expect_size(std::string_view model, const char* what, std::int64_t size) {
  expect(size >= 1 && size <= kLargestSize,
         fmt::format("{} needs {} of 1 to {}, found {}", model, what, kLargestSize, size),
         "The sizes of a model are whole numbers.");
}

void expect_probability(std::string_view model, const char* what, double value) {
  expect(value >= 0.0 && value < 1.0,
         fmt::format("{} needs {} from 0 to below 1, found {}", model, what, value),
         "It is the probability that a value is dropped.");
}

void check_cutoffs(const TransformerOptions& options) {
  const char* hint = "Cut-offs are word numbers that rise and end below the vocabulary's size.";
  std::int64_t last = 0;
  for (const std::int64_t cutoff : options.cutoffs) {
    expect(cutoff > last,
           fmt::format("transformer_lm needs cut-offs that rise, found {} after {}", cutoff, last),
           hint);
    last = cutoff;
  }
  expect(last < options.vocabulary,
         fmt::format("transformer_lm needs cut-offs below the vocabulary of {} words, found {}",
                     options.vocabulary, last),
         hint);
  if (options.cutoffs.empty()) return;
  expect(options.factor >= 1,
         fmt::format("transformer_lm needs a factor of at least 1, found {}", options.factor),
         "Each band of words is narrower than the last by this factor.");
  expect(
      word_bands(options).back().width >= 1,
      fmt::format("transformer_lm of width {} has nothing left for the last of {} bands, each {} "
                  "times narrower",
                  options.width, options.cutoffs.size() + 1, options.factor),
      "Use fewer cut-offs, a smaller factor or a larger width.");
}

}  // namespace

void check(const LstmOptions& options) {
  const std::string_view model = name(LanguageModelKind::lstm);
  expect_size(model, "a vocabulary", options.vocabulary);
  expect_size(model, "a number of layers", options.layers);
  expect_size(model, "a hidden size", options.hidden);
  expect_size(model, "an embedding", options.embedding_size());
  expect_probability(model, "a dropout", options.dropout);
  expect(!options.tied || options.embedding_size() == options.hidden,
         fmt::format("a tied lstm_lm needs an embedding as large as its hidden size {}, found {}",
                     options.hidden, options.embedding),
         "Leave the embedding out, or do not tie the weights.");
}

void check(const TransformerOptions& options) {
  const std::string_view model = name(LanguageModelKind::transformer);
  expect_size(model, "a vocabulary", options.vocabulary);
  expect_size(model, "a number of layers", options.layers);
  expect_size(model, "a width", options.width);
  expect_size(model, "an inner size", options.inner);
  expect_size(model, "a number of heads", options.heads);
  expect(options.width % options.heads == 0,
         fmt::format("transformer_lm needs heads that divide its width: found {} heads for a width "
                     "of {}",
                     options.heads, options.width),
         "Every head works on an equal part of the width.");
  expect(options.width >= 4,
         fmt::format("transformer_lm needs a width of at least 4, found {}", options.width),
         "Positions are told apart by sines and cosines of two frequencies or more.");
  expect_probability(model, "a dropout", options.dropout);
  expect_probability(model, "an attention dropout", options.attention_dropout);
  expect_probability(model, "an activation dropout", options.activation_dropout);
  expect_probability(model, "a softmax dropout", options.softmax_dropout);
  check_cutoffs(options);
  const std::int64_t padding = options.padding.value_or(0);
  expect(padding >= 0 && padding < options.vocabulary,
         fmt::format("transformer_lm needs a padding token below the vocabulary of {} words, found "
                     "{}",
                     options.vocabulary, padding),
         "Leave the padding out when the text has none.");
}

}  // namespace bitcycle
