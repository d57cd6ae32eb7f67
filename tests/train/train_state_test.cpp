#include "bitcycle/train/train_state.h"

#include "bitcycle/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

TrainState state_at_7() {
  return {.run = "0123456789abcdef",
          .data = "fedcba9876543210",
          .step = 7,
          .bitops = 1.5e9,
          .bitops_static = 3e9,
          .window = {{"loss", 2.25, 2}, {"accuracy", 3, 8}},
          .best_step = 6,
          .best_value = 62.5,
          .offsets = {{"metrics.jsonl", 1234}}};
}

// The JSON of state_at_7 with one value in place of another.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json(state_at_7());
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& words) {
  try {
    train_state_from_json(text, "run/state.json", 7);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    EXPECT_THAT(error.what(), HasSubstr("run/state.json"));
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_NE(error.hint(), "");
  }
}

TEST(TrainStateTest, IsReadAsItWasWritten) {
  const std::string text = to_json(state_at_7());
  EXPECT_EQ(to_json(train_state_from_json(text, "state.json", 7)), text);
}

TEST(TrainStateTest, NumbersThatNoRunHasAreRefused) {
  expect_refused(changed("\"step\": 7", "\"step\": -5"),
                 "a whole number from 0 as \"step\", found -5");
  expect_refused(changed("\"step\": 7", "\"step\": 8"), "expected 7 as \"step\", found 8");
  expect_refused(changed("\"step\": 7", "\"step\": 7.5"), "\"step\", found 7.5");
  expect_refused(changed("\"step\": 7", "\"step\": \"7\""), "\"step\", found \"7\"");
  expect_refused(changed("\"step\": 7", "\"step\": 18446744073709551615"), "\"step\"");
  expect_refused(changed("\"best_step\": 6", "\"best_step\": 9"), "at most 7 as \"best_step\"");
  expect_refused(changed("\"best_value\": 62.5", "\"best_value\": null"), "best_value");
  expect_refused(changed("\"plateau\": [\n    1.0", "\"plateau\": [\n    -1.0"), "from 0 to 1");
  expect_refused(changed("\"plateau\": [\n    1.0", "\"plateau\": [\n    1e300"), "from 0 to 1");
  expect_refused(changed("\"window\": {", "\"window\": {\"x\": [1, 0], "), "as \"window\"");
  expect_refused(changed("\"window\": {", "\"window\": {\"x\": [1], "), "as \"window\"");
  expect_refused(changed("\"window\": {", "\"window\": {\"x\": 1, "), "as \"window\"");
  expect_refused(changed("\"bitops\": 1500000000.0", "\"bitops\": -1.0"), "bitops");
  expect_refused(changed("\"metrics.jsonl\": 1234", "\"metrics.jsonl\": -1"), "as \"offsets\"");
  expect_refused(changed("\"lost_best_step\": 0", "\"lost_best_step\": 8"), "lost_best_step");
  expect_refused(changed("\"run\": \"0123456789abcdef\"", "\"run\": 1"), "a text as \"run\"");
}

TEST(TrainStateTest, TextThatIsNoStateIsRefused) {
  expect_refused("", "not a JSON object");
  expect_refused("[1, 2]", "not a JSON object");
  expect_refused("{\"format\": 2, \"run\": \"x", "not a JSON object");
  expect_refused(changed("\"best_step\": 6", "\"other\": 1"), "lacks \"best_step\"");
  expect_refused(changed("2.25", "1e999"), "not a JSON object");
}

TEST(TrainStateTest, AnotherFormatIsNamed) {
  expect_refused(changed("\"format\": 3", "\"format\": 2"), "expected format 3, found 2");
  expect_refused(changed("\"format\": 3,", ""), "expected format 3, found 1");
}

}  // namespace
}  // namespace bitcycle
