#include "bitcycle/events/evaluations_file.h"

#include "bitcycle/io/file.h"

#include "io/io_testing.h"
#include "io/temporary_directory.h"

#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;

StoredEvaluation evaluation(const std::string& bits, double accuracy) {
  return {"best", 40, "test", bits, {{"accuracy", accuracy}, {"loss", 0.5}}};
}

class EvaluationsFileTest : public testing::Test {
 protected:
  json content() const { return json::parse(text_of(read_file(directory_ / kEvaluationsFile))); }

  TemporaryDirectory directory_;
};

TEST_F(EvaluationsFileTest, HasTheDocumentedForm) {
  store_evaluations(directory_.path(), {evaluation("8", 91.5)});
  const json expected = {{"evaluations",
                          {{{"checkpoint", "best"},
                            {"step", 40},
                            {"split", "test"},
                            {"bits", "8"},
                            {"metrics", {{"accuracy", 91.5}, {"loss", 0.5}}}}}}};
  EXPECT_EQ(content(), expected);
}

TEST_F(EvaluationsFileTest, ReplacesTheSameEvaluationAndKeepsOthersInTheirOrder) {
  store_evaluations(directory_.path(), {evaluation("4", 80), evaluation("8", 91)});
  StoredEvaluation later = evaluation("4", 85);
  later.step = 80;
  store_evaluations(directory_.path(), {evaluation("4", 81), evaluation("fp", 92), later});
  const auto all = stored_evaluations(directory_.path());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].metrics.front().second, 81);
  EXPECT_EQ(all[1].bits, "8");
  EXPECT_EQ(all[2].bits, "fp");
  EXPECT_EQ(all[3].step, 80);
}

TEST_F(EvaluationsFileTest, PassesOverWhatItCannotReadAndWritesItAnew) {
  write_file(directory_ / kEvaluationsFile, "{\"evaluations\": [{\"step\": 1}, 7");
  EXPECT_TRUE(stored_evaluations(directory_.path()).empty());
  EXPECT_EQ(store_evaluations(directory_.path(), {evaluation("8", 1)}), DamagedEvaluations::kept);
  EXPECT_EQ(content()["evaluations"].size(), 1U);
  EXPECT_EQ(text_of(read_file(directory_ / "evaluations.json.damaged")),
            "{\"evaluations\": [{\"step\": 1}, 7");
  EXPECT_EQ(store_evaluations(directory_.path(), {evaluation("4", 1)}), DamagedEvaluations::none);
  write_file(directory_ / kEvaluationsFile, "{\"evaluations\": [{\"step\": 1}, 7]}");
  EXPECT_TRUE(stored_evaluations(directory_.path()).empty());
  write_file(directory_ / kEvaluationsFile, "{\"evaluations\": 3}");
  EXPECT_TRUE(stored_evaluations(directory_.path()).empty());
}

TEST_F(EvaluationsFileTest, LosesNothingOfWritersAtTheSameTime) {
  std::vector<std::jthread> writers;
  for (int bits = 1; bits <= 8; ++bits) {
    writers.emplace_back([this, bits] {
      store_evaluations(directory_.path(), {{"best", 4, "test", std::to_string(bits), {}}});
    });
  }
  writers.clear();
  EXPECT_EQ(stored_evaluations(directory_.path()).size(), 8U);
}

TEST_F(EvaluationsFileTest, KeepsThatAValueIsNotFinite) {
  store_evaluations(directory_.path(), {evaluation("2", std::numeric_limits<double>::infinity())});
  EXPECT_TRUE(content()["evaluations"][0]["metrics"]["accuracy"].is_null());
  EXPECT_TRUE(std::isnan(stored_evaluations(directory_.path())[0].metrics[0].second));
}

}  // namespace
}  // namespace bitcycle
