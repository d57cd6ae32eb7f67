#include "bitcycle/landscape/landscape.h"

#include "bitcycle/io/file.h"

#include "io/temporary_directory.h"
#include "landscape/made_up_landscape.h"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class StoredLandscape : public testing::Test {
 protected:
  StoredLandscape() {
    fs::create_directories(run_.path() / kLandscapeFolder);
    store_landscape(run_.path(), landscape_);
  }

  TemporaryDirectory run_;
  Landscape landscape_ = made_up_landscape();
  fs::path file_ = landscape_file(run_.path(), landscape_.subject);
};

TEST_F(StoredLandscape, ReadsBackToTheBit) {
  const Landscape read = read_landscape(file_);
  EXPECT_EQ(read.subject, landscape_.subject);
  EXPECT_EQ(read.scored, 64);
  EXPECT_EQ(read.unit, "samples");
  EXPECT_EQ(read.metrics, landscape_.metrics);
  ASSERT_EQ(read.points.size(), 25U);
  EXPECT_TRUE(std::isnan(read.points[0][1]));
  for (std::size_t i = 1; i < 25; ++i) EXPECT_EQ(read.points[i], landscape_.points[i]);
}

TEST_F(StoredLandscape, CsvSaysTheSameAsJson) {
  const auto json = nlohmann::json::parse(text_of(file_));
  std::istringstream csv(text_of(fs::path(file_).replace_extension(".csv")));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "alpha,beta,accuracy,loss");
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 5; ++column) {
      std::getline(csv, line);
      std::istringstream cells(line);
      const auto cell = [&] {
        std::string text;
        std::getline(cells, text, ',');
        return std::stod(text);
      };
      EXPECT_EQ(cell(), json["axis"][column].get<double>());
      EXPECT_EQ(cell(), json["axis"][row].get<double>());
      EXPECT_EQ(cell(), json["metrics"]["accuracy"][row][column].get<double>());
      const double loss = cell();
      const auto& stored = json["metrics"]["loss"][row][column];
      if (stored.is_null())
        EXPECT_TRUE(std::isnan(loss));
      else
        EXPECT_EQ(loss, stored.get<double>());
    }
  }
  EXPECT_FALSE(std::getline(csv, line));
}

TEST_F(StoredLandscape, EverySettingHasAPlaceOfItsOwn) {
  std::set<fs::path> places = {file_};
  LandscapeSubject subject = landscape_.subject;
  const auto other = [&](auto&& change) {
    LandscapeSubject changed = subject;
    change(changed);
    EXPECT_TRUE(places.insert(landscape_file(run_.path(), changed)).second);
  };
  other([](LandscapeSubject& s) { s.step = 641; });
  other([](LandscapeSubject& s) { s.settings.bits = "fp"; });
  other([](LandscapeSubject& s) { s.settings.grid.points = 7; });
  other([](LandscapeSubject& s) { s.settings.grid.range = 0.5; });
  other([](LandscapeSubject& s) { s.settings.samples = 0; });
  other([](LandscapeSubject& s) { s.settings.seed = 124; });
  EXPECT_EQ(file_.filename(), "step640-bits8-grid5-range1-samples64-seed123.json");
}

TEST_F(StoredLandscape, FindsItsFilesAndNoOthers) {
  write_file(run_.path() / kLandscapeFolder / "notes.txt", "");
  write_file(run_.path() / kLandscapeFolder / "a.points.jsonl", "");
  EXPECT_THAT(landscape_files(run_.path()), testing::ElementsAre(file_));
  EXPECT_TRUE(landscape_files(run_.path() / "nowhere").empty());
}

TEST_F(StoredLandscape, DamageIsToldWithTheFile) {
  const std::string whole = text_of(file_);
  const auto expect_damage = [&](const std::string& text, const std::string& what) {
    write_file(file_, text);
    try {
      read_landscape(file_);
      FAIL() << "expected an error of: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_THAT(error.what(), testing::HasSubstr(file_.filename().string()));
      EXPECT_THAT(error.what(), testing::HasSubstr(what));
    }
  };
  expect_damage("", "not JSON");
  expect_damage(whole.substr(0, whole.size() / 2), "not JSON");
  auto json = nlohmann::ordered_json::parse(whole);
  const auto changed = [&](auto&& change) {
    auto copy = json;
    change(copy);
    return copy.dump();
  };
  expect_damage(changed([](auto& j) { j["format"] = 2; }), "another format");
  expect_damage(changed([](auto& j) { j["grid"] = 7; }), "lacks points of");
  expect_damage(changed([](auto& j) { j["grid"] = 4; }), "lacks what it is of");
  expect_damage(changed([](auto& j) { j["range"] = -1; }), "lacks what it is of");
  expect_damage(changed([](auto& j) { j["metrics"]["loss"].erase(4); }), "lacks points of loss");
  expect_damage(changed([](auto& j) { j["metrics"]["loss"][1][2] = "x"; }), "that is no number");
  expect_damage(changed([](auto& j) { j["metrics"].erase("loss"); }), "lacks the loss");
}

}  // namespace
}  // namespace bitcycle
