#include "bitcycle/config/learned.h"

#include "bitcycle/network/language.h"
#include "bitcycle/network/zoo.h"

#include <cmath>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(LearnedTest, OfPicturesItIsTheAccuracyAboveChance) {
  const Learned learned(10);
  const MetricSums metrics = {{"loss", 100, 64}, {"accuracy", 32, 64}};
  EXPECT_EQ(Learned::kind(metrics), Learned::Kind::accuracy);
  EXPECT_DOUBLE_EQ(learned.of(metrics), 0.4);
  EXPECT_DOUBLE_EQ(learned.metric(Learned::Kind::accuracy, 0.4), 0.5);
}

TEST(LearnedTest, OfLanguageItIsThePartOfTheUniformModelsLossThatIsGone) {
  const Learned learned(10'000);
  const double uniform = std::log(10'000.0);
  const MetricSums guessing = {{"loss", 5 * uniform, 5}, {"perplexity", 5 * uniform, 5}};
  const MetricSums half = {{"loss", 10 * uniform, 20}, {"perplexity", 10 * uniform, 20}};
  EXPECT_EQ(Learned::kind(half), Learned::Kind::loss);
  EXPECT_NEAR(learned.of(guessing), 0, 1e-15);
  EXPECT_NEAR(learned.of(half), 0.5, 1e-15);
  EXPECT_NEAR(learned.metric(Learned::Kind::loss, 0.5), uniform / 2, 1e-15);
}

TEST(LearnedTest, OutputsAreClassesOrWords) {
  EXPECT_EQ(outputs_of(layers_of(make_network("cifar_resnet20", {.classes = 100}))), 100);
  EXPECT_EQ(outputs_of(model_layers(LstmOptions{.vocabulary = 9999})), 9999);
  TransformerOptions transformer{.vocabulary = 50'000};
  EXPECT_EQ(outputs_of(model_layers(transformer, 64)), 50'000);
  transformer.cutoffs = {10'000, 30'000};
  for (const bool tied : {true, false}) {
    transformer.tied = tied;
    EXPECT_EQ(outputs_of(model_layers(transformer, 64)), 50'000) << tied;
  }
}

}  // namespace
}  // namespace bitcycle
