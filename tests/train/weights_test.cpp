#include "bitcycle/train/weights.h"

#include "bitcycle/base/error.h"
#include "bitcycle/events/metrics_file.h"
#include "bitcycle/io/checkpoint.h"
#include "bitcycle/train/tensor_io.h"

#include "train/trainer_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "message | hint" of the Error(checkpoint) that a call ends in.
template <class Call>
std::string complaint_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::checkpoint);
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

WeightsFile file_of(const NamedTensors& tensors) {
  return {"x.safetensors", {}, encode_tensors(tensors)};
}

NamedTensors small_net() {
  return {{"conv.weight", at::zeros({4, 3})},
          {"conv.running_range", at::zeros({1})},
          {"fc.weight", at::zeros({2, 4})},
          {"fc.bias", at::zeros({2})},
          {"gate.weight", at::zeros({1})}};
}

TEST(TakeWeightsTest, TakesWhatFitsAndSaysWhatDoesNot) {
  const NamedTensors net = small_net();
  const TakenWeights taken =
      take_weights(file_of({{"conv.weight", at::full({4, 3}, 0.5, at::kDouble)},
                            {"fc.weight", at::ones({10, 4})},
                            {"fc.bias", at::ones({10})},
                            {"head.bias", at::ones({3})}}),
                   net, "fc");
  EXPECT_TRUE(net.at("conv.weight").eq(0.5).all().item<bool>());
  EXPECT_EQ(net.at("fc.weight").abs().sum().item<double>(), 0);
  EXPECT_THAT(taken.taken, ElementsAre("conv.weight"));
  EXPECT_THAT(taken.unused, ElementsAre("head.bias"));
  EXPECT_THAT(to_lines(taken),
              ElementsAre("weights: 1 tensor from x.safetensors",
                          "weights: 2 tensors of the last layer afresh: fc.bias (2 here, 10 there),"
                          " fc.weight (2 x 4 here, 10 x 4 there)",
                          "weights: 1 tensor afresh that the file lacks: gate.weight",
                          "weights: running ranges of 1 layers afresh, which the file lacks",
                          "weights: 1 tensor of the file unused: head.bias"));
  EXPECT_EQ(json::parse(to_json(taken)).at("afresh").at("fc.bias"), "expected 2, found 10");
}

WeightsFile with_header(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();  // this machine's bytes are in the file's order
  const std::string whole = std::string(reinterpret_cast<const char*>(&size), 8) + header + data;
  const auto bytes = std::as_bytes(std::span(whole));
  return {"x.safetensors", {}, {bytes.begin(), bytes.end()}};
}

// The upper halves of 1, -0.375, 3 and 2^-126, written down from IEEE 754.
TEST(TakeWeightsTest, BfloatsAreTheUpperHalvesOfFloats) {
  const NamedTensors net = {{"w", at::zeros({4})}};
  const std::string halves("\x80\x3f\xc0\xbe\x40\x40\x80\x00", 8);
  take_weights(with_header(R"({"w":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}})", halves),
               net, "fc");
  EXPECT_TRUE(net.at("w").equal(at::tensor({1.0F, -0.375F, 3.0F, 0x1p-126F})));
}

TEST(TakeWeightsTest, OtherTypesAreRefusedAsWeightsAlone) {
  const NamedTensors net = {{"bn.num_batches_tracked", at::zeros({}, at::kLong)},
                            {"conv.weight", at::zeros({2})}};
  const auto with = [&](const char* weight, const std::string& data) {
    const std::string header =
        fmt::format(R"({{"conv.weight":{{"dtype":"{}","shape":[2],"data_offsets":[0,{}]}},)"
                    R"("mask":{{"dtype":"BOOL","shape":[2],"data_offsets":[{},{}]}}}})",
                    weight, data.size(), data.size(), data.size() + 2);
    return with_header(header, data + "\1\1");
  };
  const TakenWeights taken = take_weights(with("F16", std::string("\0\x3c\0\x3c", 4)), net, "fc");
  EXPECT_TRUE(net.at("conv.weight").eq(1).all().item<bool>());
  EXPECT_THAT(taken.unused, ElementsAre("mask"));
  for (const auto& [type, bytes] : {std::pair("U8", 2), {"I32", 8}, {"I64", 16}, {"I8", 2}}) {
    EXPECT_THAT(
        complaint_of([&] { take_weights(with(type, std::string(bytes, '\7')), net, "fc"); }),
        AllOf(HasSubstr("tensor \"conv.weight\" of x.safetensors: expected F64, F32, F16 or "
                        "BF16, found " +
                        std::string(type)),
              HasSubstr("as float")));
  }
  EXPECT_TRUE(net.at("conv.weight").eq(1).all().item<bool>());
  take_weights(file_of({{"bn.num_batches_tracked", at::full({}, 7, at::kLong)}}), net, "fc");
  EXPECT_EQ(net.at("bn.num_batches_tracked").item<int>(), 7);
}

TEST(TakeWeightsTest, LineBreaksInNamesBreakNoLine) {
  const TakenWeights weights{.file = "x", .taken = {"a"}, .unused = {"b\nweights: all taken"}};
  EXPECT_THAT(to_lines(weights).back(), HasSubstr("unused: b\\x0aweights: all taken"));
}

TEST(TakeWeightsTest, ManyNamesAreCutShort) {
  const TakenWeights weights{.file = "x",
                             .taken = {"a"},
                             .unused = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"}};
  EXPECT_EQ(to_lines(weights).back(),
            "weights: 9 tensors of the file unused: t0, t1, t2, t3, t4, t5, ...");
}

TEST(TakeWeightsTest, AnotherShapeElsewhereIsAnErrorThatChangesNothing) {
  const NamedTensors net = small_net();
  EXPECT_THAT(complaint_of([&] {
                take_weights(file_of({{"fc.weight", at::ones({2, 4})},
                                      {"conv.weight", at::ones({4, 3, 1})}}),
                             net, "fc");
              }),
              AllOf(HasSubstr("\"conv.weight\": expected 4 x 3, found 4 x 3 x 1 in x.safetensors"),
                    HasSubstr("Only the last layer")));
  for (const auto& [name, tensor] : net) EXPECT_EQ(tensor.abs().sum().item<double>(), 0) << name;
}

TEST(TakeWeightsTest, WeightsOfAnotherNetworkAndDamagedOnesAreErrors) {
  const auto take = [](const NamedTensors& tensors) {
    return complaint_of([&] { take_weights(file_of(tensors), small_net(), "fc"); });
  };
  EXPECT_THAT(take({{"module.conv.weight", at::ones({4, 3})}}),
              AllOf(HasSubstr("has no tensor of this network"), HasSubstr("\"conv.weight\""),
                    HasSubstr("found such as \"module.conv.weight\"")));
  EXPECT_THAT(take({}), HasSubstr("found such as none at all"));
  EXPECT_THAT(take({{"conv.weight", at::full({4, 3}, NAN)}}),
              HasSubstr("\"conv.weight\" of x.safetensors has values that are not finite"));
  NamedTensors with_norm = small_net();
  with_norm["bn.running_var"] = at::ones({3});
  EXPECT_THAT(complaint_of([&] {
                take_weights(file_of({{"bn.running_var", at::tensor({1.0F, -0.25F, 2.0F})}}),
                             with_norm, "fc");
              }),
              AllOf(HasSubstr("\"bn.running_var\" of x.safetensors: expected values from 0, found "
                              "-0.25"),
                    HasSubstr("damaged")));
  EXPECT_EQ(with_norm["bn.running_var"].min().item<double>(), 1);
  const WeightsFile pickle{"x.pth", {}, std::vector<std::byte>(100, std::byte{'P'})};
  EXPECT_THAT(complaint_of([&] { take_weights(pickle, small_net(), "fc"); }),
              HasSubstr("x.pth is no valid safetensors file"));
}

class WeightsTest : public TrainerTest {
 protected:
  Recipe half(const std::string& part) {
    Recipe recipe = small_recipe();
    recipe.data.part = part;
    return recipe;
  }
  Recipe from(const fs::path& weights, const std::string& part = "2/2") {
    Recipe recipe = half(part);
    recipe.model.weights = weights.string();
    return recipe;
  }
};

TEST_F(WeightsTest, ARunStandsForItsBestCheckpoint) {
  const fs::path run = train("first", short_recipe());
  const CheckpointStore store(run);
  ASSERT_TRUE(store.best());
  const fs::path best = store.directory(*store.best());
  const auto expected = read_file(best / "model.safetensors");
  for (const fs::path& path : {run, run / "", best, best / "", best / "model.safetensors"}) {
    EXPECT_EQ(find_weights(path).bytes, expected) << path;
  }
  EXPECT_EQ(find_weights(best).run, run);
  EXPECT_EQ(find_weights(run).path, best / "model.safetensors");
  CheckpointStore(run).unmark_best();
  EXPECT_EQ(find_weights(run).path, store.directory(*store.latest()) / "model.safetensors");
}

TEST_F(WeightsTest, PlacesWithoutWeightsAreErrors) {
  const auto find = [](const fs::path& path) { return complaint_of([&] { find_weights(path); }); };
  EXPECT_THAT(find(root_ / "nowhere"),
              AllOf(HasSubstr("nowhere\" does not exist"), HasSubstr("current directory")));
  fs::create_directories(root_ / "empty");
  EXPECT_THAT(find(root_ / "empty"), HasSubstr("empty\" has no checkpoint"));
  const fs::path run = train("first", short_recipe());
  const fs::path best = CheckpointStore(run).directory(*CheckpointStore(run).best());
  write_file(best / "model.safetensors", "cut short");
  EXPECT_THAT(find(run), HasSubstr("model.safetensors is damaged"));
}

TEST_F(WeightsTest, FilesOfOtherProgramsAreNamed) {
  fs::create_directories(root_);
  const auto found = [&](const std::string& start) {
    write_file(root_ / "weights", start + std::string(100, '\0'));
    return complaint_of([&] { find_weights(root_ / "weights"); });
  };
  EXPECT_THAT(found("PK\x03\x04"), AllOf(HasSubstr("a zip archive, such as torch.save writes"),
                                         HasSubstr("docs/weights.md")));
  EXPECT_THAT(found("\x80\x02\x8a\x0al\xfc\x9c"), HasSubstr("a pickle, such as torch.save"));
  EXPECT_THAT(found("\x89HDF\r\n"), HasSubstr("an HDF5 file"));
  EXPECT_THAT(found("\x93NUMPY"), HasSubstr("a NumPy array"));
  write_file(root_ / "weights", "\x80\x02" + std::string(100, '\0'));  // 640, a header's length
  EXPECT_NO_THROW(find_weights(root_ / "weights"));
}

// Ranges come along, and so the first evaluation of the second run is that of the first's weights.
TEST_F(WeightsTest, ARunStartsFromTheWeightsAndRangesOfAnother) {
  const fs::path first = train("first", half("1/2"));
  Recipe recipe = from(first);
  recipe.epochs = 0;
  recipe.steps = 1;
  recipe.optimizer.lr = 0;
  const fs::path second = train("second", recipe);
  const TensorFile before = decode_safetensors(find_weights(first).bytes, "first");
  const TensorFile after = decode_safetensors(find_weights(second).bytes, "second");
  EXPECT_EQ(before.tensors.at("fc.weight"), after.tensors.at("fc.weight"));
  const auto steps = [](const TensorFile& file) {
    return to_tensor(file.tensors.at("layer1.0.conv1.steps_tracked")).item<std::int64_t>();
  };
  EXPECT_EQ(steps(after), steps(before) + 1);
  const json report = json::parse(text(second / "weights.json"));
  EXPECT_THAT(report.at("afresh"), IsEmpty());
  EXPECT_EQ(report.at("taken").size(), before.tensors.size());
}

TEST_F(WeightsTest, OtherClassesStartAfresh) {
  const fs::path first = train("first", short_recipe());
  Recipe recipe = from(first);
  recipe.model.classes = 12;
  Trainer trainer(recipe, root_ / "second");
  EXPECT_THAT(trainer.notices(), testing::Contains(HasSubstr("fc.bias (12 here, 10 there)")));
  recipe.model = {.name = "cifar_resnet20", .weights = first.string()};
  EXPECT_NO_THROW(Trainer(recipe, root_ / "third"));
  recipe.model.name = "cifar_mobilenet_v2";
  EXPECT_THAT(complaint_of([&] { Trainer(recipe, root_ / "fourth"); }),
              HasSubstr("model.weights: "));
}

// Weights count at the first start; afterwards the run needs them no more.
TEST_F(WeightsTest, AStoppedRunEndsInTheSameBytesWithoutTheFile) {
  const fs::path first = train("first", half("1/2"));
  const fs::path file = root_ / "start.safetensors";
  write_file(file, find_weights(first).bytes);
  const fs::path whole = train("whole", from(file));
  const fs::path stopped = train_and_stop("stopped", from(file), 5);
  fs::remove(file);
  resume(stopped, from(file));
  expect_same_bytes(whole, stopped);
  EXPECT_THAT(complaint_of([&] { Trainer(from(file), root_ / "new"); }),
              HasSubstr("does not exist"));
}

TEST_F(WeightsTest, WhatTheRunIsFollowsFromTheContentNotFromThePlace) {
  const fs::path first = train("first", short_recipe());
  write_file(root_ / "a", find_weights(first).bytes);
  write_file(root_ / "b", find_weights(first).bytes);
  const auto identity = [&](const std::string& name) {
    Recipe recipe = from(root_ / name);
    recipe.epochs = 0;
    recipe.steps = 1;
    return logged_run(train("run-" + name, recipe));
  };
  const std::string own = identity("a");
  EXPECT_EQ(identity("b"), own);
  TensorFile other = decode_safetensors(find_weights(first).bytes, "first");
  other.tensors.at("fc.bias").bytes[0] ^= std::byte{1};
  write_file(root_ / "c", encode_safetensors(other));
  EXPECT_NE(identity("c"), own);
}

TEST_F(WeightsTest, WordsMustBeThoseOfTheText) {
  const auto recipe_on = [&](const std::string& words) {
    const fs::path data = root_ / ("text-" + words) / "ptb";
    fs::create_directories(data);
    for (const char* name : {"ptb.train.txt", "ptb.valid.txt", "ptb.test.txt"}) {
      std::string lines;
      for (int i = 0; i < 40; ++i) lines += words + " <unk> " + words + "\n";
      write_file(data / name, lines);
    }
    return parse_recipe(
        "steps = 2\n[model]\nname = \"lstm_lm\"\nhidden = 8\n[data]\ndataset = "
        "\"ptb\"\nbatch_size = 2\nwindow = 4\nroot = \"" +
            data.parent_path().string() + "\"",
        "words.toml");
  };
  const fs::path first = train("first", recipe_on("cat dog"));
  Recipe same = recipe_on("cat dog"), other = recipe_on("dog cat");
  same.data.part = "2/2";
  same.model.weights = other.model.weights = first.string();
  EXPECT_THAT(Trainer(same, root_ / "second").notices(), testing::Contains(HasSubstr("weights: ")));
  EXPECT_THAT(complaint_of([&] { Trainer(other, root_ / "third"); }),
              HasSubstr("expected the vocabulary.txt of this run's data"));
  other.model.weights = (first / "checkpoints/step-00000002/model.safetensors").string();
  EXPECT_THAT(complaint_of([&] { Trainer(other, root_ / "fourth"); }),
              HasSubstr("expected the vocabulary.txt of this run's data"));
}

}  // namespace
}  // namespace bitcycle
