#include "bitcycle/landscape/point_log.h"

#include "bitcycle/base/error.h"
#include "bitcycle/io/file.h"

#include "io/temporary_directory.h"
#include "landscape/made_up_landscape.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LoggedPoints : public testing::Test {
 protected:
  LoggedPoints() { fs::create_directories(run_.path() / kLandscapeFolder); }

  static Landscape empty() { return {made_up_subject(3), 64, "samples", {}, {}}; }
  fs::path file() const {
    return landscape_file(run_.path(), made_up_subject(3)).replace_extension(".points.jsonl");
  }
  // Goes on with the log, up to `points`.
  void log_until(std::size_t points) {
    Landscape landscape = empty();
    PointLog log(run_.path(), landscape);
    while (landscape.points.size() < points) {
      const double value = 0.1 * static_cast<double>(landscape.points.size());
      log.append({{"accuracy", 50 + value}, {"loss", value}});
    }
  }

  TemporaryDirectory run_;
};

TEST_F(LoggedPoints, CutAtAnyByteEndsInTheSameBytes) {
  log_until(9);
  const std::string whole = text_of(file());
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    write_file(file(), whole.substr(0, bytes));
    log_until(9);
    ASSERT_EQ(text_of(file()), whole) << "cut at byte " << bytes;
  }
}

TEST_F(LoggedPoints, GoesOnBehindTheLastWholePoint) {
  log_until(4);
  Landscape landscape = empty();
  const PointLog log(run_.path(), landscape);
  EXPECT_EQ(log.notice(), "");
  ASSERT_EQ(landscape.points.size(), 4U);
  EXPECT_EQ(landscape.metrics, (std::vector<std::string>{"accuracy", "loss"}));
  EXPECT_EQ(landscape.points[3], (std::vector<double>{50 + 0.1 * 3, 0.1 * 3}));
}

TEST_F(LoggedPoints, OfOtherWeightsDoNotCount) {
  log_until(4);
  Landscape landscape = empty();
  landscape.subject.fingerprint = "fedcba9876543210";
  const PointLog log(run_.path(), landscape);
  EXPECT_TRUE(landscape.points.empty());
  EXPECT_THAT(log.notice(), HasSubstr("of other weights"));
}

TEST_F(LoggedPoints, OfOtherMetricsAreNotGoneOnWith) {
  log_until(4);
  Landscape landscape = empty();
  PointLog log(run_.path(), landscape);
  EXPECT_THROW(log.append({{"perplexity", 100.0}}), Error);
}

TEST_F(LoggedPoints, DamagedLinesDoNotCount) {
  log_until(4);
  const std::string whole = text_of(file());
  const std::size_t third = whole.find("\"loss\":0.2");
  for (const char* damage : {"\"lost\":0.2", "\"loss\":xyz", "\"loss\":\"2\""}) {
    std::string text = whole;
    text.replace(third, 10, damage);
    write_file(file(), text);
    Landscape landscape = empty();
    const PointLog log(run_.path(), landscape);
    EXPECT_EQ(landscape.points.size(), 2U) << damage;
    EXPECT_THAT(log.notice(), HasSubstr("the first 2 points count")) << damage;
  }
}

TEST_F(LoggedPoints, MoreThanTheGridHasDoNotCount) {
  log_until(9);
  write_file(file(), text_of(file()) + "{\"accuracy\":1,\"loss\":1}\n");
  Landscape landscape = empty();
  const PointLog log(run_.path(), landscape);
  EXPECT_EQ(landscape.points.size(), 9U);
  EXPECT_THAT(log.notice(), HasSubstr("damaged"));
}

TEST_F(LoggedPoints, AreRemovedInTheEnd) {
  Landscape landscape = empty();
  PointLog log(run_.path(), landscape);
  EXPECT_TRUE(fs::exists(file()));
  log.remove();
  EXPECT_FALSE(fs::exists(file()));
}

}  // namespace
}  // namespace bitcycle
