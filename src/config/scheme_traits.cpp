#include "bitcycle/config/scheme_traits.h"

#include <ranges>

namespace bitcycle {

SchemeTraits traits_of(SchemeName scheme) {
  using InFloat = SchemeTraits::InFloat;
  using Models = SchemeTraits::Models;
  using Optimizers = SchemeTraits::Optimizers;
  switch (scheme) {
    case SchemeName::dorefa:
      return {InFloat::first_and_last, Models::for_pictures, Optimizers::any, 1};
    case SchemeName::sbm_banner:
      return {InFloat::none, Models::any, Optimizers::any, 1};
    case SchemeName::wageubn_lite:
      return {InFloat::by_network, Models::any, Optimizers::any, 2};
    case SchemeName::wageubn_full:
      return {InFloat::first_and_last, Models::for_pictures, Optimizers::sgd, 2};
    case SchemeName::automatic:
    case SchemeName::sbm:
    case SchemeName::integer:
      return {};
  }
  return {};
}

Network in_scheme(Network network, SchemeName scheme) {
  using InFloat = SchemeTraits::InFloat;
  const InFloat in_float = traits_of(scheme).in_float;
  if (in_float == InFloat::none) {
    for (Node& node : network.nodes) node.precision = LayerPrecision::scheduled;
  }
  if (in_float == InFloat::first_and_last) {
    const auto has_weights = [](const Node& node) { return node.has_weights(); };
    auto ends = network.nodes | std::views::filter(has_weights);
    ends.front().precision = ends.back().precision = LayerPrecision::full;
  }
  return network;
}

}  // namespace bitcycle
