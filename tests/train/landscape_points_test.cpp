#include "bitcycle/train/landscape_points.h"

#include "bitcycle/base/error.h"
#include "bitcycle/models/gates.h"
#include "bitcycle/train/weight_plane.h"

#include "data/text/made_up_text.h"
#include "io/temporary_directory.h"
#include "train/trainer_testing.h"

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

namespace bitcycle {
namespace {

using testing::HasSubstr;

// A model that has seen a few batches, so that it has statistics and ranges of its own.
std::unique_ptr<Session> warm_session(const Recipe& recipe) {
  auto session = std::make_unique<Session>(recipe);
  session->task().start(0);
  for (Step step = 0; step < 3; ++step) {
    session->apply(step);
    session->task().next_loss();
  }
  return session;
}

Recipe picture_recipe(Backend backend = Backend::simulate) {
  Recipe recipe = short_recipe();
  recipe.precision.backend = backend;
  recipe.data.limit = 48;
  recipe.threads = 1;
  return recipe;
}

Recipe text_recipe(const fs::path& root, const std::string& model) {
  for (const char* split : {"train", "valid", "test"}) {
    write_file(root / ("ptb." + std::string(split) + ".txt"), made_up_text(40, 1));
  }
  const std::string sizes =
      model == "lstm_lm" ? "hidden = 12" : "width = 16\ninner = 24\nheads = 2\nlayers = 2";
  return parse_recipe("steps = 4\n[model]\nname = \"" + model + "\"\n" + sizes +
                          "\n[data]\ndataset = \"ptb\"\nroot = \"" + root.string() +
                          "\"\nbatch_size = 4\nwindow = 7\n[optimizer]\nlr = 0.1\n[precision]\n"
                          "backend = \"simulate\"\nforward = 8\nbackward = 8\n",
                      "text.toml");
}

Landscape landscape_of(Session& session, const LandscapeSettings& settings) {
  const TemporaryDirectory run;
  fs::create_directories(run.path() / kLandscapeFolder);
  const auto samples = landscape_samples(session, settings);
  Landscape landscape{{4, "x", settings}, samples->count(), samples->unit(), {}, {}};
  PointLog log(run.path(), landscape);
  EXPECT_EQ(make_points(session, *samples, landscape, log, StopSignal()),
            LandscapeOutcome::finished);
  return landscape;
}

std::map<std::string, at::Tensor> copies(const torch::nn::Module& model) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value().clone();
  for (const auto& item : model.named_buffers()) tensors[item.key()] = item.value().clone();
  return tensors;
}

TEST(WeightPlane, FiltersOfDirectionsAreAsLongAsThoseOfTheWeights) {
  const auto session = warm_session(picture_recipe());
  const WeightPlane plane(session->model(), RandomKey(123));
  ASSERT_EQ(plane.weights().size(), 10U);  // nine convolutions, of them two shortcuts; one linear
  for (const WeightPlane::Weight& weight : plane.weights()) {
    const auto lengths = [](const at::Tensor& t) {
      return t.flatten(1).to(at::kDouble).norm(2, 1);
    };
    for (const at::Tensor& direction : {weight.first, weight.second}) {
      EXPECT_TRUE(at::allclose(lengths(direction), lengths(weight.tensor.detach()), 1e-5, 1e-9))
          << weight.name;
    }
    EXPECT_FALSE(at::allclose(weight.first, weight.second)) << weight.name;
  }
}

// Of 10,000 standard normal numbers; scaled filters keep their direction.
TEST(WeightPlane, DirectionsAreDrawnFromTheNormalDistribution) {
  torch::nn::Linear layer(torch::nn::LinearOptions(10'000, 1));
  const WeightPlane plane(*layer, RandomKey(7));
  const at::Tensor drawn = plane.weights()[0].first.flatten().to(at::kDouble);
  const at::Tensor unit = drawn / drawn.std();
  EXPECT_NEAR(unit.mean().item<double>(), 0, 0.05);
  EXPECT_NEAR(unit.pow(4).mean().item<double>(), 3, 0.3);
  const at::Tensor other = plane.weights()[0].second.flatten().to(at::kDouble);
  EXPECT_NEAR((unit * other / other.std()).mean().item<double>(), 0, 0.05);
}

TEST(WeightPlane, MovesMatricesAloneAndPutsThemBack) {
  const auto session = warm_session(picture_recipe());
  const auto before = copies(session->model());
  {
    WeightPlane plane(session->model(), RandomKey(123));
    plane.move_to(0.5, -0.25);
    for (const WeightPlane::Weight& weight : plane.weights()) {
      const at::Tensor expected = weight.centre + 0.5 * weight.first - 0.25 * weight.second;
      EXPECT_TRUE(at::allclose(weight.tensor.detach(), expected, 1e-6, 1e-7)) << weight.name;
    }
    for (const auto& [name, now] : copies(session->model())) {
      EXPECT_EQ(at::equal(now, before.at(name)), now.dim() < 2) << name;
    }
  }
  for (const auto& [name, now] : copies(session->model())) {
    EXPECT_TRUE(at::equal(now, before.at(name))) << name;
  }
}

// Two networks with weights of their own are seen along the same draws.
TEST(WeightPlane, ComparedNetworksHaveTheSameDraws) {
  Recipe other = picture_recipe();
  other.seed = 77;
  const auto one = warm_session(picture_recipe()), two = warm_session(other);
  const WeightPlane a(one->model(), RandomKey(123)), b(two->model(), RandomKey(123));
  const WeightPlane c(one->model(), RandomKey(124));
  const auto unit = [](const at::Tensor& t) {
    return t.flatten(1) / t.flatten(1).norm(2, 1, /*keepdim=*/true);
  };
  for (std::size_t i = 0; i < a.weights().size(); ++i) {
    EXPECT_TRUE(at::allclose(unit(a.weights()[i].first), unit(b.weights()[i].first), 1e-4, 1e-6));
    EXPECT_FALSE(at::allclose(unit(a.weights()[i].first), unit(c.weights()[i].first), 1e-4, 1e-6));
  }
}

TEST(WeightPlane, GatesKeepTheirWeights) {
  Recipe recipe = picture_recipe();
  DynamicRecipe& dynamic = recipe.precision.dynamic.emplace();
  dynamic.options = {{0, 0}, {3, 6}, {4, 8}, {6, 12}};
  dynamic.weight = 4;
  dynamic.target = {2.5};
  const auto session = warm_session(recipe);
  std::set<const void*> gates;
  for (const at::Tensor& tensor : session->gates()->parameters()) gates.insert(tensor.data_ptr());
  ASSERT_FALSE(gates.empty());
  const WeightPlane plane(session->model(), RandomKey(123));
  EXPECT_EQ(plane.weights().size(), 10U);
  for (const auto& weight : plane.weights()) EXPECT_FALSE(gates.contains(weight.tensor.data_ptr()));
}

TEST(LandscapePoints, TheCentreIsThePlainEvaluation) {
  for (const Backend backend : {Backend::simulate, Backend::integer}) {
    const auto session = warm_session(picture_recipe(backend));
    for (const char* bits : {"8", "4", "fp"}) {
      const Landscape landscape =
          landscape_of(*session, {.bits = bits, .grid = {3, 1}, .samples = 0});
      const Score plain = session->score(Split::train, parse_evaluation_bits(bits), 3);
      EXPECT_EQ(landscape.scored, plain.count);
      ASSERT_EQ(landscape.points.size(), 9U);
      for (std::size_t i = 0; i < plain.metrics.size(); ++i) {
        EXPECT_EQ(landscape.metrics[i], plain.metrics[i].metric.name);
        EXPECT_EQ(landscape.points[4][i], plain.metrics[i].value) << bits;
        EXPECT_NE(landscape.points[0][1], plain.value("loss")) << bits;
      }
    }
  }
}

// By hand, on the sample's own pictures: the loss of the moved network.
TEST(LandscapePoints, APointIsTheLossOfTheMovedWeights) {
  const auto session = warm_session(picture_recipe());
  const LandscapeSettings settings{.bits = "8", .grid = {3, 0.5}, .samples = 0};
  const Landscape landscape = landscape_of(*session, settings);
  WeightPlane plane(session->model(), RandomKey(123).derive("landscape").derive("directions"));
  const int alpha = 2, beta = 0;
  plane.move_to(0.5, -0.5);
  const Score moved = session->score(Split::train, parse_evaluation_bits("8"), 3);
  EXPECT_EQ(landscape.surface("loss").at(alpha, beta), moved.value("loss"));
}

// More threads than points, too.
TEST(LandscapePoints, DoNotDependOnThreads) {
  for (const Backend backend : {Backend::simulate, Backend::integer}) {
    for (const char* bits : {"8", "fp"}) {
      std::vector<std::vector<std::vector<double>>> found;
      for (const int threads : {1, 2, 11}) {
        Recipe recipe = picture_recipe(backend);
        recipe.threads = threads;
        const auto session = warm_session(recipe);
        found.push_back(
            landscape_of(*session, {.bits = bits, .grid = {3, 1}, .samples = 40}).points);
        EXPECT_EQ(omp_get_max_threads(), threads);
      }
      EXPECT_EQ(found[0], found[1]) << bits;
      EXPECT_EQ(found[0], found[2]) << bits;
    }
  }
}

TEST(LandscapePoints, ASampleIsFixedByItsSeed) {
  const auto session = warm_session(picture_recipe());
  const auto centre = [&](std::int64_t samples, std::uint64_t seed) {
    const auto kept = landscape_samples(*session, {.samples = samples, .seed = seed});
    session->apply_evaluation(parse_evaluation_bits("8"), 3);
    EXPECT_EQ(kept->count(), samples);
    return kept->score().value("loss");
  };
  EXPECT_EQ(centre(20, 1), centre(20, 1));
  EXPECT_NE(centre(20, 1), centre(20, 2));
}

TEST(LandscapePoints, MoreSamplesThanThereAreIsAMistake) {
  const auto session = warm_session(picture_recipe());
  try {
    landscape_samples(*session, {.samples = 49});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("the 48 samples of the training set, found 49"));
    EXPECT_THAT(error.hint(), HasSubstr("--samples all"));
  }
}

TEST(LandscapePoints, LanguageModelsHaveLandscapesInNats) {
  const TemporaryDirectory root;
  for (const char* model : {"lstm_lm", "transformer_lm"}) {
    const auto session = warm_session(text_recipe(root.path(), model));
    const Landscape all = landscape_of(*session, {.bits = "8", .grid = {3, 1}, .samples = 0});
    const Score plain = session->score(Split::train, parse_evaluation_bits("8"), 3);
    EXPECT_EQ(all.unit, "tokens");
    EXPECT_EQ(all.scored, plain.count);
    EXPECT_EQ(all.surface("loss").centre(), plain.value("loss")) << model;
    EXPECT_NEAR(all.surface("perplexity").centre(), std::exp(plain.value("loss")), 1e-6);
    EXPECT_NE(all.surface("loss").at(0, 0), plain.value("loss"));
    const Landscape part = landscape_of(*session, {.bits = "8", .grid = {3, 1}, .samples = 30});
    EXPECT_EQ(part.scored, 30);
    omp_set_num_threads(2);
    const Landscape again = landscape_of(*session, {.bits = "8", .grid = {3, 1}, .samples = 30});
    EXPECT_EQ(again.points, part.points);
  }
}

TEST(LandscapePoints, StopWhenAskedAndGoOn) {
  Recipe recipe = picture_recipe();
  recipe.threads = 2;
  const auto session = warm_session(recipe);
  const LandscapeSettings settings{.bits = "8", .grid = {3, 1}, .samples = 16};
  const Landscape whole = landscape_of(*session, settings);
  const TemporaryDirectory run;
  fs::create_directories(run.path() / kLandscapeFolder);
  const auto samples = landscape_samples(*session, settings);
  const auto go_on = [&](std::size_t stop_at) {
    const StopSignal stop;
    Landscape landscape{{4, "x", settings}, samples->count(), samples->unit(), {}, {}};
    PointLog log(run.path(), landscape);
    make_points(*session, *samples, landscape, log, stop, [&] {
      if (landscape.points.size() == stop_at) std::raise(SIGINT);
    });
    return landscape;
  };
  EXPECT_EQ(go_on(4).points.size(), 4U);
  EXPECT_EQ(go_on(7).points.size(), 7U);
  EXPECT_EQ(go_on(0).points, whole.points);
}

}  // namespace
}  // namespace bitcycle
