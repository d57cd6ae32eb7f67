#include "bitcycle/events/layers_file.h"

#include "bitcycle/io/file.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;

TensorStatistics tensor(double signal, double noise) {
  return {.range = {-0.25f, 0.1f},
          .widest = 8,
          .count = 4,
          .bit_sum = 32,
          .signal = signal,
          .noise = noise};
}

class LayersFileTest : public testing::Test {
 protected:
  std::string text() const { return text_of(read_file(directory_ / "layers.jsonl")); }
  json last_line() const {
    const std::string all = text();
    return json::parse(all.substr(all.rfind('\n', all.size() - 2) + 1));
  }

  TemporaryDirectory directory_;
};

TEST_F(LayersFileTest, HasRangeAndRatioOfEachRole) {
  LayersFile file(directory_.path());
  file.begin({}, 0);
  file.layers({.step = 320, .layers = {{"conv1", tensor(1000, 1), {}, tensor(1, 1)}}});
  const json expected = {
      {"step", 320},
      {"layers",
       {{"conv1",
         {{"weight", {{"bits", 8}, {"low", -0.25}, {"high", 0.1}, {"sqnr_db", 30.0}}},
          {"error", {{"bits", 8}, {"low", -0.25}, {"high", 0.1}, {"sqnr_db", 0.0}}}}}}}};
  EXPECT_EQ(last_line(), expected);
}

TEST_F(LayersFileTest, HasMeanBitsWhereSamplesDifferAndNullWhereNothingWasLost) {
  TensorStatistics mixed = tensor(1, 0);
  mixed.bit_sum = 25;
  LayersFile file(directory_.path());
  file.begin({}, 0);
  file.layers({.step = 1, .layers = {{"a", {}, mixed, {}}, {"b", {}, {}, {}}}});
  EXPECT_EQ(last_line()["layers"]["a"]["activation"]["bits"], 6.25);
  EXPECT_TRUE(last_line()["layers"]["a"]["activation"]["sqnr_db"].is_null());
  EXPECT_TRUE(last_line()["layers"]["b"].empty());
}

TEST_F(LayersFileTest, GoesOnAtTheOffsetOfACheckpoint) {
  LayersFile file(directory_.path());
  file.begin({}, 0);
  file.layers({.step = 1});
  const std::uint64_t offset = file.sync();
  file.layers({.step = 2});
  const std::string whole = text();
  file.layers({.step = 3});
  LayersFile resumed(directory_.path());
  resumed.begin({.step = 1}, offset);
  resumed.layers({.step = 2});
  EXPECT_EQ(text(), whole);
}

}  // namespace
}  // namespace bitcycle
