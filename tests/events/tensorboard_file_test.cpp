#include "bitcycle/events/tensorboard_file.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"
#include "bitcycle/io/tf_record.h"

#include "events/event_reader.h"
#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using event_reader::bitwise_crc32c;
using event_reader::Event;
using event_reader::events;
using testing::ElementsAre;

// RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32cTest, HasThePublishedValues) {
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) rising += static_cast<char>(i);
  for (int i = 31; i >= 0; --i) falling += static_cast<char>(i);
  const std::vector<std::pair<std::string, std::uint32_t>> known = {
      {"123456789", 0xe3069283},
      {std::string(32, '\0'), 0x8a9136aa},
      {std::string(32, '\xff'), 0x62a8ab43},
      {rising, 0x46dd794e},
      {falling, 0x113fdb5c},
      {"", 0}};
  for (const auto& [text, crc] : known) {
    EXPECT_EQ(crc32c(text), crc);
    EXPECT_EQ(bitwise_crc32c(text), crc);
  }
}

TEST(TfRecordTest, FramesDataThatItsReaderTakesAndDamageDoesNotPass) {
  const std::string file = tf_record("one") + tf_record("") + tf_record(std::string(300, 'x'));
  EXPECT_THAT(event_reader::records(file), ElementsAre("one", "", std::string(300, 'x')));
  for (std::size_t i = 0; i < 19; ++i) {
    std::string damaged = file;
    damaged[i] ^= 1;
    EXPECT_THROW(event_reader::records(damaged), std::exception) << i;
  }
}

StepReport step_report(Step step) {
  return {.step = step,
          .total = 8,
          .epoch = 0.5,
          .metrics = {{{"loss"}, 2.25}, {{"accuracy", MetricForm::percent}, 12.5}},
          .lr = 0.1,
          .bits = {3, 4, 8},
          .bitops = 3e9,
          .bitops_static = 4e9,
          .choices = {{1, 0}, {0.5, 0.5}},
          .logged = true};
}

TensorStatistics four_bit_codes() {
  TensorStatistics tensor{
      .range = {-1, 2}, .widest = 4, .count = 6, .bit_sum = 24, .signal = 100, .noise = 1};
  tensor.codes[2 * 3] = 4;   // code 3 of 16, in 32 parts
  tensor.codes[2 * 15] = 2;  // code 15
  return tensor;
}

class TensorBoardFileTest : public testing::Test {
 protected:
  std::string text() const { return text_of(read_file(directory_ / TensorBoardFile::kName)); }
  std::vector<Event> read() const { return events(text()); }

  TemporaryDirectory directory_;
};

TEST_F(TensorBoardFileTest, BeginsWithItsVersionAndTheRecipe) {
  TensorBoardFile file(directory_.path());
  file.begin({.run = "r", .recipe = "seed = 1\n[model]\nname = \"x\"\n"}, 0);
  const std::vector<Event> found = read();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, "brain.Event:2");
  EXPECT_EQ(found[1].texts.at("recipe"), "    seed = 1\n    [model]\n    name = \"x\"\n");
}

TEST_F(TensorBoardFileTest, HasTheScalarsOfLoggedSteps) {
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  file.step(step_report(4));
  StepReport between = step_report(5);
  between.logged = false;
  file.step(between);
  const std::vector<Event> found = read();
  ASSERT_EQ(found.size(), 3U);
  const Event& event = found[2];
  EXPECT_EQ(event.step, 4);
  EXPECT_EQ(event.wall_time, 4);  // Note [Time in event files]
  const std::map<std::string, float> expected = {
      {"train/loss", 2.25f},          {"train/accuracy", 12.5f},   {"train/lr", 0.1f},
      {"train/epoch", 0.5f},          {"bits/weight", 3.0f},       {"bits/activation", 4.0f},
      {"bits/error", 8.0f},           {"cost/gbitops", 3.0f},      {"cost/gbitops_static", 4.0f},
      {"cost/saving_percent", 25.0f}, {"choices/option_1", 0.75f}, {"choices/option_2", 0.25f}};
  EXPECT_EQ(event.scalars, expected);
}

TEST_F(TensorBoardFileTest, HasEvaluationsAndChangesOfStage) {
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  file.evaluation({.step = 1'000'000, .split = "validation", .score = {{{{"loss"}, 1.5}}, 10}});
  file.stage({.step = 7, .from = "3/6", .to = "4/6", .reason = "the loss settled"});
  const std::vector<Event> found = read();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2].step, 1'000'000);
  EXPECT_EQ(found[2].scalars.at("validation/loss"), 1.5f);
  EXPECT_EQ(found[3].texts.at("stage"), "3/6 -> 4/6: the loss settled");
}

TEST_F(TensorBoardFileTest, HasLayersAndAtEveryFifthLookTheirCodes) {
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  const std::vector<LayerStatistics> layers = {{"conv1", four_bit_codes(), {}, {}}};
  file.layers({.step = 320, .number = 4, .layers = layers});
  file.layers({.step = 400, .number = 5, .layers = layers});
  const std::vector<Event> found = read();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[2].scalars.at("layer_sqnr_db/conv1/weight"), 20.0f);
  EXPECT_EQ(found[2].scalars.at("layer_low/conv1/weight"), -1.0f);
  EXPECT_EQ(found[2].scalars.at("layer_high/conv1/weight"), 2.0f);
  EXPECT_EQ(found[2].scalars.at("layer_bits/conv1/weight"), 4.0f);
  EXPECT_EQ(found[2].scalars.size(), 4U);
  EXPECT_TRUE(found[2].histograms.empty());
  const event_reader::Histogram& codes = found[3].histograms.at("codes/conv1/weight");
  ASSERT_EQ(codes.buckets.size(), 16U);
  EXPECT_EQ(codes.buckets[3], 4);
  EXPECT_EQ(codes.buckets[15], 2);
  EXPECT_EQ(codes.limits[3], 3.5);
  EXPECT_EQ(codes.limits[15], 15.5);
  EXPECT_EQ(codes.num, 6);
  EXPECT_EQ(codes.sum, 4 * 3 + 2 * 15);
  EXPECT_EQ(codes.sum_squares, 4 * 9 + 2 * 225);
  EXPECT_EQ(codes.min, 2.5);
  EXPECT_EQ(codes.max, 15.5);
}

TEST_F(TensorBoardFileTest, HasTheWidthsOfTheLayersRangesByRole) {
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  TensorStatistics narrow = four_bit_codes(), wide = four_bit_codes(), odd = four_bit_codes();
  narrow.range = {0, 1};
  wide.range = {-2, 2};
  odd.range = {0, INFINITY};
  file.layers(
      {.step = 1, .layers = {{"a", narrow, wide, {}}, {"b", wide, {}, {}}, {"c", wide, odd, {}}}});
  const Event event = read().back();
  const event_reader::Histogram& weight = event.histograms.at("ranges/weight");
  EXPECT_EQ(weight.num, 3);
  EXPECT_EQ(weight.sum, 1 + 4 + 4);
  EXPECT_EQ(weight.sum_squares, 1 + 16 + 16);
  EXPECT_EQ(weight.min, 1);
  EXPECT_EQ(weight.max, 4);
  EXPECT_EQ(weight.buckets.front(), 1);
  EXPECT_EQ(weight.buckets.back(), 2);
  EXPECT_EQ(weight.limits.back(), 4);
  EXPECT_TRUE(std::ranges::is_sorted(weight.limits));
  const event_reader::Histogram& activation = event.histograms.at("ranges/activation");
  EXPECT_THAT(activation.buckets, ElementsAre(1));
  EXPECT_THAT(activation.limits, ElementsAre(4));
  EXPECT_EQ(event.histograms.count("ranges/error"), 0U);
}

TEST_F(TensorBoardFileTest, CountsWideCodesInGroups) {
  TensorStatistics tensor{.widest = 8, .count = 3, .bit_sum = 24, .signal = 1, .noise = 0};
  tensor.codes[31] = 3;  // codes 248 to 255
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  file.layers({.step = 1, .layers = {{"fc", {}, {}, tensor}}});
  const Event event = read().back();
  EXPECT_EQ(event.scalars.count("layer_sqnr_db/fc/error"), 0U);  // nothing was lost
  const event_reader::Histogram& codes = event.histograms.at("codes/fc/error");
  EXPECT_EQ(codes.buckets.size(), 32U);
  EXPECT_EQ(codes.buckets[31], 3);
  EXPECT_EQ(codes.limits[31], 255.5);
  EXPECT_EQ(codes.min, 247.5);
}

TEST_F(TensorBoardFileTest, GoesOnAtTheOffsetOfACheckpoint) {
  std::string whole;
  {
    TensorBoardFile file(directory_.path());
    file.begin({}, 0);
    file.step(step_report(1));
    file.step(step_report(2));
    whole = text();
  }
  TensorBoardFile first(directory_.path());
  first.begin({}, 0);
  first.step(step_report(1));
  const std::uint64_t offset = first.sync();
  first.step(step_report(7));  // told again after the resume
  TensorBoardFile resumed(directory_.path());
  resumed.begin({.step = 1}, offset);
  resumed.step(step_report(2));
  EXPECT_EQ(text(), whole);
}

TEST_F(TensorBoardFileTest, ThrowsAndKeepsWholeRecordsWhereItCannotWrite) {
  TensorBoardFile file(directory_.path());
  file.begin({}, 0);
  file.step(step_report(1));
  const std::string before = text();
  {
    const FileSizeLimit limit(before.size() + 20);
    EXPECT_THROW(file.step(step_report(2)), Error);
  }
  EXPECT_EQ(text(), before);
}

}  // namespace
}  // namespace bitcycle
