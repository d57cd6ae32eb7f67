// `bitcycle predict`, run as a process. The oracle is `bitcycle eval`: what it counts as right on a
// split is what predict answers rightly on the split's files.

#include "bitcycle/base/error.h"
#include "bitcycle/base/random.h"

#include "cli/run_program.h"
#include "data/pictures.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kClasses[] = {"ape", "bee", "cow"};
constexpr int kDataStatus = 3, kUsageStatus = 2;

// Noise whose red rises a little from class to class, so that a network is right now and then.
test::Bytes drawn(int label, RandomKey key) {
  const int width = 14 + static_cast<int>(key.below(0, 12)), height = 20;
  std::vector<std::uint8_t> rows;
  for (int i = 0; i < width * height * 3; ++i) {
    const std::uint64_t noise = key.below(static_cast<std::uint64_t>(i) + 1, 180);
    rows.push_back(static_cast<std::uint8_t>(noise + (i % 3 == 0 ? 25U * label : 20U)));
  }
  return test::png({.width = width, .height = height}, rows);
}

void draw_split(const fs::path& split, int each, RandomKey key) {
  for (int label = 0; label < 3; ++label) {
    for (int i = 0; i < each; ++i) {
      const auto number = static_cast<std::uint64_t>(label * 100 + i);
      test::write(split / kClasses[label] / (std::to_string(i) + ".png"),
                  drawn(label, key.derive(number)));
    }
  }
}

// A folder of pictures, and runs on it: in integers, simulated and with gates.
class PredictTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new TemporaryDirectory;
    draw_split(pictures() / "train", 16, RandomKey(1));
    draw_split(pictures() / "val", 10, RandomKey(2));
    draw_split(pictures() / "test", 11, RandomKey(3));
    test::write(at("own.toml"), std::string(R"(
epochs = 4
log_every = 1
[model]
name = "cifar_resnet8"
[data]
dataset = "image_folder"
root = "pictures"
image_size = 16
batch_size = 8
[optimizer]
lr = 0.02
)"));
    const std::string cyclic =
        " --set 'precision.forward={schedule=\"CR\",min=3,max=8,cycles=2}' "
        "--set precision.backward=8 --set precision.backend=";
    train("integer", cyclic + "integer");
    train("simulate", cyclic + "simulate");
    train("gates",
          " --set 'precision.dynamic={options=[[0,0],[3,6],[4,8]],weight=4,target=2.5}'");
  }
  static void TearDownTestSuite() { delete place_; }

  static fs::path at(const std::string& name) { return *place_ / name; }
  static fs::path pictures() { return at("pictures"); }
  static Outcome run(const std::string& arguments, const std::string& environment = "") {
    return run_program(arguments, "cd " + place_->path().string() + " && " + environment);
  }
  static void train(const std::string& name, const std::string& settings) {
    const Outcome done = run("train own.toml -q --run-dir " + name + settings + " 2>&1");
    ASSERT_EQ(done.status, 0) << done.text;
  }
  static nlohmann::json answers(const std::string& arguments) {
    const Outcome found = run("predict " + arguments + " --json 2>/dev/null");
    return nlohmann::json::parse(found.text);
  }

  static TemporaryDirectory* place_;
};
TemporaryDirectory* PredictTest::place_ = nullptr;

// Answers of which the best class is the picture's directory.
int count_right(const nlohmann::json& answers) {
  int right = 0;
  for (const auto& picture : answers["pictures"]) {
    const fs::path file = picture["picture"].get<std::string>();
    right += picture["classes"][0]["name"] == file.parent_path().filename().string() ? 1 : 0;
  }
  return right;
}

TEST_F(PredictTest, IsRightAsOftenAsEvalSays) {
  const std::map<std::string, std::string> folders = {{"test", "pictures/test"},
                                                      {"validation", "pictures/val"}};
  for (const std::string run_name : {"integer", "simulate", "gates"}) {
    for (const auto& [split, folder] : folders) {
      for (const std::string bits : {"", " --bits 3", " --bits fp"}) {
        SCOPED_TRACE(run_name + " on " + split + bits);
        const auto scored = nlohmann::json::parse(
            run("eval " + run_name + " --json --split " + split + bits).text);
        const double accuracy = scored["results"][0]["accuracy"];
        const nlohmann::json found = answers(run_name + " " + folder + bits);
        ASSERT_EQ(found["pictures"].size(), scored["samples"]);
        EXPECT_EQ(count_right(found),
                  std::lround(accuracy * scored["samples"].get<double>() / 100));
      }
    }
  }
}

TEST_F(PredictTest, AnswersDependNeitherOnCompanyNorOnThreads) {
  for (const std::string run_name : {"integer", "simulate", "gates"}) {
    for (const std::string bits : {"", " --bits 4", " --bits fp"}) {
      SCOPED_TRACE(run_name + bits);
      const std::string command = "predict " + run_name + bits + " --top 9 ";
      const std::string together = run(command + "pictures/test", "OMP_NUM_THREADS=1").text;
      EXPECT_EQ(run(command + "pictures/test", "OMP_NUM_THREADS=2").text, together);
      const std::string alone = run(command + "pictures/test/bee/7.png").text;
      EXPECT_THAT(together, HasSubstr("\n" + alone));
      const nlohmann::json all = answers(run_name + bits + " pictures/test");
      const nlohmann::json one = answers(run_name + bits + " pictures/test/bee/7.png");
      EXPECT_THAT(all["pictures"], testing::Contains(one["pictures"][0]));  // in every digit
    }
  }
}

TEST_F(PredictTest, NamesTheBestClassesInOrder) {
  const auto classes = answers("integer pictures/test/cow/3.png")["pictures"][0]["classes"];
  ASSERT_EQ(classes.size(), 3u);
  double sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i]["name"], kClasses[classes[i]["number"].get<std::size_t>()]);
    EXPECT_LE(classes[i]["probability"], classes[i > 0 ? i - 1 : 0]["probability"]);
    sum += classes[i]["probability"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  const Outcome line = run("predict integer pictures/test/cow/3.png --top 1");
  EXPECT_THAT(line.text, testing::MatchesRegex("pictures/test/cow/3.png: (ape|bee|cow) [0-9.]+ %\n"));
}

TEST_F(PredictTest, WhatCannotBeReadIsNamedAndTheRestAnswered) {
  const std::string good = "pictures/test/ape/1.png";
  test::write(at("mixed/notes.txt"), std::string("taken in May"));
  fs::copy_file(at(good), at("mixed/a.png"), fs::copy_options::overwrite_existing);
  const Outcome strays = run("predict integer mixed 2>&1");
  EXPECT_EQ(strays.status, 0);
  EXPECT_THAT(strays.text, HasSubstr("note: mixed/notes.txt is no picture; skipped"));
  test::Bytes cut = test::noisy_jpeg(20, 20);
  cut.resize(cut.size() / 2);
  test::write(at("mixed/cut.jpg"), cut);
  for (const std::string asked : {"mixed", "mixed/cut.jpg mixed/a.png", "nowhere.jpg mixed/a.png",
                                  "mixed/notes.txt mixed/a.png"}) {
    const Outcome found = run("predict integer " + asked + " 2>&1");
    EXPECT_EQ(found.status, kDataStatus) << asked;
    EXPECT_THAT(found.text, HasSubstr("\nmixed/a.png: ")) << asked;
    EXPECT_THAT(found.text, HasSubstr("warning: ")) << asked;
  }
  fs::create_directories(at("bare"));
  EXPECT_EQ(run("predict integer bare 2>&1").status, kDataStatus);
}

// LibTorch is not even tried with so little room: that would be another status.
constexpr const char* kTooLittle = "ulimit -v 700000;";

TEST_F(PredictTest, MistakesAreAnsweredBeforeLibTorchIsLoaded) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome found = run("predict " + arguments + " 2>&1", kTooLittle);
    EXPECT_EQ(found.status, kUsageStatus) << arguments;
    return found.text;
  };
  EXPECT_THAT(refused("nowhere a.png"), HasSubstr("is no run directory"));
  EXPECT_THAT(refused("integer a.png --bits 3,4"), HasSubstr("expected one width"));
  EXPECT_THAT(refused("integer a.png --top 0"), HasSubstr("--top"));
  test::write(at("language/recipe.toml"),
              std::string("steps = 1\n[model]\nname = \"lstm_lm\"\n[data]\ndataset = \"ptb\"\n"));
  EXPECT_THAT(refused("language a.png"), HasSubstr("language model \"lstm_lm\""));
}

// Who moves a run takes no pictures along.
TEST_F(PredictTest, NeedsNoTrainingPictures) {
  fs::create_directories(at("apart"));
  fs::copy(at("integer"), at("apart/integer"), fs::copy_options::recursive);
  const std::string whole = run("predict integer pictures/test/bee --top 2 --json").text;
  fs::rename(pictures() / "train", at("hidden"));
  const Outcome found = run("predict apart/integer pictures/test/bee --top 2 --json");
  fs::rename(at("hidden"), pictures() / "train");
  ASSERT_EQ(found.status, 0);
  const auto probability = [](const std::string& text) {
    return nlohmann::json::parse(text)["pictures"][0]["classes"][0]["probability"];
  };
  EXPECT_EQ(probability(found.text), probability(whole));
}

}  // namespace
}  // namespace bitcycle
