#include "bitcycle/config/scheme_traits.h"

#include "bitcycle/config/task_kind.h"
#include "bitcycle/network/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> layers_in_float(const std::string& network, SchemeName scheme) {
  std::vector<std::string> names;
  for (const LayerInfo& layer : layers_of(in_scheme(make_network(network), scheme))) {
    if (layer.precision == LayerPrecision::full) names.push_back(layer.name);
  }
  return names;
}

TEST(SchemeTraitsTest, SayWhichLayersAreInFloat) {
  for (const SchemeName scheme :
       {SchemeName::automatic, SchemeName::sbm, SchemeName::integer, SchemeName::wageubn_lite}) {
    EXPECT_THAT(layers_in_float("cifar_resnet8", scheme), ElementsAre("fc"));
  }
  for (const SchemeName scheme : {SchemeName::dorefa, SchemeName::wageubn_full}) {
    EXPECT_THAT(layers_in_float("cifar_resnet8", scheme), ElementsAre("conv1", "fc"));
  }
  EXPECT_THAT(layers_in_float("cifar_resnet8", SchemeName::sbm_banner), IsEmpty());
  EXPECT_THAT(layers_in_float("resnet18", SchemeName::sbm_banner), IsEmpty());
}

TEST(SchemeTraitsTest, ARecipesNetworkHasThem) {
  Recipe recipe;
  recipe.model.name = "cifar_resnet8";
  recipe.precision.scheme = SchemeName::dorefa;
  EXPECT_EQ(picture_network(recipe).nodes.front().precision, LayerPrecision::full);
}

}  // namespace
}  // namespace bitcycle
