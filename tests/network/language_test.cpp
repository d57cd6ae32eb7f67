#include "bitcycle/network/language.h"

#include "bitcycle/base/error.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace bitcycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Options>
std::string complaint(const Options& options) {
  try {
    check(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "";
}

std::vector<std::string> names(const std::vector<LayerInfo>& layers) {
  std::vector<std::string> result;
  for (const LayerInfo& layer : layers) result.push_back(layer.name);
  return result;
}

std::int64_t total_macs(const std::vector<LayerInfo>& layers, LayerKind kind) {
  std::int64_t macs = 0;
  for (const LayerInfo& layer : layers) macs += layer.kind == kind ? layer.macs : 0;
  return macs;
}

// The 16-layer Transformer of Baevski and Auli.
TransformerOptions wiki103() {
  return {.vocabulary = 267744,
          .layers = 16,
          .width = 1024,
          .inner = 4096,
          .final_norm = false,
          .cutoffs = {20000, 60000}};
}

TEST(LstmLayersTest, AreTwoPerLayerAndTheDecoder) {
  const auto layers = model_layers(LstmOptions{.vocabulary = 10000, .embedding = 200});
  EXPECT_THAT(names(layers),
              ElementsAre("rnn.ih_l0", "rnn.hh_l0", "rnn.ih_l1", "rnn.hh_l1", "decoder"));
  EXPECT_EQ(layers[0].macs, 200 * 2600);
  EXPECT_EQ(layers[2].macs, 650 * 2600);
  EXPECT_EQ(layers[4].geometry.out_channels, 10000);
}

// Zaremba et al.'s medium model has 20 million parameters.
TEST(LstmLayersTest, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(parameter_count(LstmOptions{.vocabulary = 10000}), 19'780'400);
  EXPECT_EQ(parameter_count(LstmOptions{.vocabulary = 10000, .tied = true}), 13'280'400);
}

TEST(TransformerLayersTest, CountAttentionPerTokenOfAWindow) {
  const auto layers = model_layers(TransformerOptions{.vocabulary = 33278}, 512);
  EXPECT_EQ(total_macs(layers, LayerKind::linear),
            6 * (4 * 512 * 512 + 2 * 512 * 2048) + 33278 * 512);
  EXPECT_EQ(total_macs(layers, LayerKind::product), 6 * 2 * 512 * 512);
  for (const LayerInfo& layer : layers) {
    EXPECT_EQ(layer.precision == LayerPrecision::full, layer.kind == LayerKind::product);
    EXPECT_EQ(layer.macs,
              layer.geometry.in_channels * layer.geometry.out_channels / layer.geometry.groups);
  }
}

// fairseq gives 247 million for transformer_lm_wiki103, whose bands are 1024, 256 and 64 wide.
TEST(TransformerLayersTest, HaveThePublishedNumberOfParameters) {
  EXPECT_EQ(parameter_count(wiki103()), 246'933'504);
  const auto bands = word_bands(wiki103());
  EXPECT_EQ(bands[1].width, 256);
  EXPECT_EQ(bands[2].width, 64);
  EXPECT_EQ(bands[2].words(), 207744);
}

TEST(TransformerLayersTest, OfTheAdaptiveFormHaveAProjectionPerBand) {
  const auto layers = model_layers(wiki103(), 512);
  EXPECT_THAT(
      names(std::vector(layers.begin(), layers.begin() + 3)),
      ElementsAre("decoder.embed_tokens.embeddings.0.1", "decoder.embed_tokens.embeddings.1.1",
                  "decoder.embed_tokens.embeddings.2.1"));
  EXPECT_THAT(
      names(std::vector(layers.end() - 6, layers.end())),
      ElementsAre("decoder.adaptive_softmax.head.word_proj",
                  "decoder.adaptive_softmax.head.class_proj", "decoder.adaptive_softmax.tail.0.0",
                  "decoder.adaptive_softmax.tail.0.1", "decoder.adaptive_softmax.tail.1.0",
                  "decoder.adaptive_softmax.tail.1.1"));
  EXPECT_EQ(layers[0].precision, LayerPrecision::full);
  EXPECT_EQ(layers.back().precision, LayerPrecision::scheduled);
}

TEST(LanguageOptionsTest, SayWhichSizeNoLstmHas) {
  EXPECT_EQ(complaint(LstmOptions{.vocabulary = 10}), "");
  EXPECT_THAT(complaint(LstmOptions{}), HasSubstr("a vocabulary of 1 to 16777216, found 0"));
  EXPECT_THAT(complaint(LstmOptions{.vocabulary = 10, .hidden = 0}), HasSubstr("a hidden size"));
  EXPECT_THAT(complaint(LstmOptions{.vocabulary = 10, .layers = 0}), HasSubstr("layers"));
  EXPECT_THAT(complaint(LstmOptions{.vocabulary = 10, .embedding = -3}), HasSubstr("an embedding"));
  EXPECT_THAT(complaint(LstmOptions{.vocabulary = 10, .dropout = 1.0}), HasSubstr("a dropout"));
  EXPECT_THAT(complaint(LstmOptions{.vocabulary = 10, .embedding = 8, .tied = true}),
              HasSubstr("an embedding as large as its hidden size 650, found 8"));
}

TEST(LanguageOptionsTest, SayWhichSizeNoTransformerHas) {
  EXPECT_EQ(complaint(TransformerOptions{.vocabulary = 10}), "");
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .heads = 7}),
              HasSubstr("found 7 heads for a width of 512"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .width = 0}), HasSubstr("a width"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .cutoffs = {4, 4}}),
              HasSubstr("cut-offs that rise, found 4 after 4"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .cutoffs = {4, 10}}),
              HasSubstr("below the vocabulary of 10 words, found 10"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .cutoffs = {4}, .factor = 0}),
              HasSubstr("a factor of at least 1"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .width = 8, .cutoffs = {4, 6}}),
              HasSubstr("nothing left for the last of 3 bands"));
  EXPECT_THAT(complaint(TransformerOptions{.vocabulary = 10, .padding = 10}),
              HasSubstr("a padding token below the vocabulary"));
  EXPECT_THROW(model_layers(TransformerOptions{.vocabulary = 10}, 0), Error);
}

}  // namespace
}  // namespace bitcycle
