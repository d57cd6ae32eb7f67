#include "bitcycle/network/language_model_kind.h"

#include "bitcycle/config/task_kind.h"
#include "bitcycle/network/zoo.h"

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

TEST(LanguageModelKindTest, NamesAndKindsBelongTogether) {
  EXPECT_EQ(language_model_kind("lstm_lm"), LanguageModelKind::lstm);
  EXPECT_EQ(language_model_kind("transformer_lm"), LanguageModelKind::transformer);
  for (const LanguageModelEntry& entry : language_models()) {
    EXPECT_EQ(language_model_kind(entry.name), entry.kind);
    EXPECT_EQ(name(entry.kind), entry.name);
    EXPECT_EQ(task_of(entry.name), TaskKind::language_model);
  }
}

TEST(LanguageModelKindTest, NetworksForPicturesAreNone) {
  for (const ZooEntry& entry : zoo()) {
    EXPECT_EQ(language_model_kind(entry.name), std::nullopt) << entry.name;
    EXPECT_EQ(task_of(entry.name), TaskKind::image_classification) << entry.name;
  }
  EXPECT_EQ(language_model_kind("lstm"), std::nullopt);
}

}  // namespace
}  // namespace bitcycle
