#include "bitcycle/config/backend.h"

#include "bitcycle/base/error.h"
#include "bitcycle/config/precision_plan.h"
#include "bitcycle/network/zoo.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ScheduleSpec schedule(const std::string& expression) {
  return {.name = expression};
}

PrecisionRecipe recipe_of(const std::string& forward, const std::string& backward) {
  PrecisionRecipe recipe;
  recipe.forward = schedule(forward);
  recipe.backward = schedule(backward);
  return recipe;
}

PrecisionPlan plan_of(const Network& network, const PrecisionRecipe& recipe) {
  return PrecisionPlan(recipe, layers_of(network), {1000, 100});
}

BackendChoice choose(Backend backend, const Network& network, const PrecisionRecipe& recipe,
                     const std::string& device = "cpu") {
  return choose_backend(
      {.backend = backend, .scheme = recipe.scheme, .device = device, .isa = Isa::avx2},
      plan_of(network, recipe));
}

BackendChoice automatic(const PrecisionRecipe& recipe) {
  return choose(Backend::automatic, make_network("cifar_resnet8"), recipe);
}

BackendChoice in_integers(const PrecisionRecipe& recipe) {
  auto choice = choose(Backend::integer, make_network("cifar_resnet8"), recipe);
  EXPECT_EQ(choice.backend, Backend::integer);
  return choice;
}

TEST(BackendTest, AutomaticExecutesTheZooInIntegersFromTwoToEightBits) {
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    for (const char* bits : {"2", "8", "CR 2:8 x8", "static 4 until 0.5, RTH 3:8 x4"}) {
      const auto choice = choose(Backend::automatic, network, recipe_of(bits, "8"));
      EXPECT_EQ(choice.backend, Backend::integer) << entry.name << " " << bits;
      EXPECT_THAT(choice.notices, IsEmpty());
    }
  }
}

TEST(BackendTest, AutomaticSimulatesWhereOneLayerHasAnotherWidthAndNamesIt) {
  const auto reason = [](const std::string& forward, const std::string& backward) {
    const BackendChoice choice = automatic(recipe_of(forward, backward));
    EXPECT_EQ(choice.backend, Backend::simulate);
    EXPECT_EQ(choice.notices.size(), 1U);
    return choice.notices.front();
  };
  EXPECT_EQ(reason("8", "17"),
            "simulating: layer conv1 has 17-bit errors; the integer kernels take 2 to 8 bits, "
            "of errors 2 to 16");
  EXPECT_EQ(reason("8", "CR 6:18 x4"),
            "simulating: layer conv1 has errors of up to 18 bits; the integer kernels take 2 to 8 "
            "bits, of errors 2 to 16");
  EXPECT_THAT(reason("1", "8"), HasSubstr("layer conv1 has 1-bit weights;"));
  EXPECT_THAT(reason("CR 1:8 x2", "8"), HasSubstr("has weights of down to 1 bit;"));
  EXPECT_THAT(reason("8", "fp"), HasSubstr("has float errors;"));
  EXPECT_THAT(reason("static fp until 0.5, CR 3:8 x2", "8"),
              HasSubstr("has weights that are sometimes in float;"));
}

TEST(BackendTest, AutomaticHasNothingToSayOfFloat) {
  const BackendChoice choice = automatic(recipe_of("fp", "fp"));
  EXPECT_EQ(choice.backend, Backend::simulate);
  EXPECT_THAT(choice.notices, testing::IsEmpty());
}

TEST(BackendTest, AutomaticIsIntegerWithErrorsOfUpToSixteenBits) {
  for (const char* backward : {"16", "CR 6:9 x4"}) {
    const BackendChoice choice = automatic(recipe_of("8", backward));
    EXPECT_EQ(choice.backend, Backend::integer) << backward;
    EXPECT_THAT(choice.notices, IsEmpty());
  }
}

TEST(BackendTest, AutomaticLooksAtOverridesToo) {
  PrecisionRecipe recipe = recipe_of("CR 3:8 x8", "8");
  recipe.overrides = {{.layers = "layer2.0.conv2", .activation = schedule("9")}};
  EXPECT_THAT(automatic(recipe).notices,
              ElementsAre(HasSubstr("layer layer2.0.conv2 has 9-bit activations;")));
  recipe.overrides = {{.layers = "fc", .forward = schedule("8")}};
  EXPECT_EQ(automatic(recipe).backend, Backend::integer);
  recipe.overrides = {{.layers = "fc", .forward = schedule("8"), .backward = schedule("17")}};
  EXPECT_THAT(automatic(recipe).notices, ElementsAre(HasSubstr("layer fc has 17-bit errors;")));
}

TEST(BackendTest, LayersInFloatThroughoutKeepNothingFromIntegers) {
  PrecisionRecipe recipe = recipe_of("CR 3:8 x8", "8");
  recipe.overrides = {{.layers = "conv1", .full_precision = true}};
  EXPECT_EQ(automatic(recipe).backend, Backend::integer);
  EXPECT_THAT(in_integers(recipe).warnings, IsEmpty());
  EXPECT_THAT(in_integers(recipe).notices,
              ElementsAre(HasSubstr("conv1 (float weights and activations)")));
}

TEST(BackendTest, AutomaticSimulatesOnOtherDevices) {
  const auto choice =
      choose(Backend::automatic, make_network("cifar_resnet8"), recipe_of("8", "8"), "cuda:1");
  EXPECT_EQ(choice.backend, Backend::simulate);
  EXPECT_THAT(choice.notices, ElementsAre("simulating: the device is cuda:1; the integer kernels "
                                          "run on the CPU"));
}

TEST(BackendTest, AutomaticSimulatesGeometriesThatTheKernelsLack) {
  const auto reason = [](auto change) {
    Network network = make_network("cifar_resnet8");
    change(network.nodes[1]);
    const auto choice = choose(Backend::automatic, network, recipe_of("8", "8"));
    EXPECT_EQ(choice.backend, Backend::simulate);
    return choice.notices.front();
  };
  EXPECT_EQ(reason([](Node& node) { node.kernel = 4; }),
            "simulating: layer layer1.0.conv1 has a kernel of even size 4");
  EXPECT_THAT(reason([](Node& node) { node.padding = 0; }), HasSubstr("has padding 0"));
  EXPECT_THAT(reason([](Node& node) { node.in.channels = 8000; }),
              HasSubstr("has 72000 products per sum"));
  EXPECT_THAT(reason([](Node& node) {
                node.groups = node.in.channels;
                node.kernel = 17;
                node.padding = 8;
              }),
              HasSubstr("has a depthwise kernel of 17"));
}

TEST(BackendTest, IntegerWarnsInOneLineOfWhatItSimulates) {
  EXPECT_THAT(in_integers(recipe_of("CR 3:8 x8", "8")).warnings, IsEmpty());
  EXPECT_THAT(in_integers(recipe_of("8", "16")).warnings, IsEmpty());
  EXPECT_THAT(in_integers(recipe_of("8", "17")).warnings,
              ElementsAre("precision.backend: not all is executed in integers (the integer kernels "
                          "take 2 to 8 bits, of errors 2 to 16): conv1, layer1.0.conv1 and 7 more "
                          "(17-bit errors)"));
  PrecisionRecipe mixed = recipe_of("8", "8");
  mixed.overrides = {{.layers = "layer1.*", .weight = schedule("12")},
                     {.layers = "conv1", .forward = schedule("CR 1:4 x2")}};
  EXPECT_THAT(in_integers(mixed).warnings,
              ElementsAre(HasSubstr("conv1 (weights of down to 1 bit); layer1.0.conv1, "
                                    "layer1.0.conv2 (12-bit weights)")));
}

TEST(BackendTest, MachinesWithoutVectorInstructionsAreWarnedAndDecideAlike) {
  const Network network = make_network("cifar_resnet8");
  const PrecisionPlan plan = plan_of(network, recipe_of("8", "8"));
  for (const Backend backend : {Backend::integer, Backend::automatic}) {
    const auto choice = choose_backend({.backend = backend, .isa = Isa::scalar}, plan);
    EXPECT_EQ(choice.backend, Backend::integer);
    EXPECT_THAT(choice.notices, ElementsAre(HasSubstr("scalar path, which is slow")));
  }
  EXPECT_THAT(choose_backend({.isa = Isa::scalar}, plan).notices, IsEmpty());
}

TEST(BackendTest, NamesReadBack) {
  for (const Backend backend : {Backend::simulate, Backend::integer, Backend::automatic}) {
    EXPECT_EQ(parse_backend(name(backend)), backend);
  }
  EXPECT_EQ(name(Backend::automatic), "auto");
  EXPECT_THROW(parse_backend("fast"), Error);
}

TEST(BackendTest, TheSchemeIsThatOfTheKernelsWhereTheyExecuteIt) {
  const PrecisionRecipe recipe = recipe_of("8", "8");
  EXPECT_EQ(automatic(recipe).scheme, SchemeName::integer);
  const Network network = make_network("cifar_resnet8");
  EXPECT_EQ(choose(Backend::integer, network, recipe).scheme, SchemeName::integer);
  EXPECT_EQ(choose(Backend::simulate, network, recipe).scheme, SchemeName::sbm);
  EXPECT_EQ(automatic(recipe_of("8", "17")).scheme, SchemeName::sbm);
}

TEST(BackendTest, AutoSimulatesASchemeWithoutKernelsAndSaysSo) {
  PrecisionRecipe recipe = recipe_of("8", "8");
  for (const SchemeName scheme : {SchemeName::sbm, SchemeName::dorefa, SchemeName::sbm_banner,
                                  SchemeName::wageubn_lite, SchemeName::wageubn_full}) {
    recipe.scheme = scheme;
    EXPECT_EQ(automatic(recipe).backend, Backend::simulate);
    EXPECT_EQ(automatic(recipe).scheme, scheme);
    EXPECT_THAT(automatic(recipe).notices, ElementsAre("simulating: the scheme \"" + name(scheme) +
                                                       "\" has no integer kernels"));
  }
}

}  // namespace
}  // namespace bitcycle
