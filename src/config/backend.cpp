#include "bitcycle/config/backend.h"

#include "bitcycle/base/error.h"
#include "bitcycle/base/nearest.h"
#include "bitcycle/config/dynamic_policy.h"
#include "bitcycle/kernels/integer/domain.h"

#include "config/fields.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace bitcycle {
namespace {

constexpr std::size_t kNamedLayers = 2;  // of those that share a reason

std::string taken_widths() {
  return fmt::format("the integer kernels take {} to {} bits, of errors {} to {}",
                     integer::kMinBits, integer::kMaxBits, integer::kMinBits,
                     integer::kMaxErrorBits);
}

bool always_float(const WidthBounds& bounds) {
  return bounds.has_float && bounds.max == 0;
}

// As PrecisionPolicy: a layer without quantized weights and activations is in float throughout.
bool always_float(const LayerWidths& widths) {
  return always_float(widths.weight) && always_float(widths.activation);
}

std::string width_reason(const WidthBounds& bounds, const char* role, bool (*taken)(int)) {
  if (always_float(bounds)) return fmt::format("float {}", role);
  if (bounds.has_float) return fmt::format("{} that are sometimes in float", role);
  const bool high = !taken(bounds.max), low = !taken(bounds.min);
  if (!high && !low) return "";
  if (bounds.min == bounds.max) return fmt::format("{}-bit {}", bounds.max, role);
  return high ? fmt::format("{} of up to {} bits", role, bounds.max)
              : fmt::format("{} of down to {} bit", role, bounds.min);
}

std::string widths_reason(const LayerWidths& widths) {
  for (const auto& [bounds, role] :
       {std::pair(widths.weight, "weights"), std::pair(widths.activation, "activations")}) {
    const std::string reason = width_reason(bounds, role, integer::takes_width);
    if (!reason.empty()) return reason;
  }
  return width_reason(widths.error, "errors", integer::takes_error_width);
}

// Fully connected layers are taken at all sizes.
std::string geometry_reason(const LayerInfo& layer) {
  return layer.kind == LayerKind::convolution ? integer::obstacle(layer.geometry) : "";
}

std::optional<Obstacle> obstacle_of(const LayerInfo& layer, const LayerWidths& widths) {
  using Kind = Obstacle::Kind;
  if (always_float(widths)) {
    if (layer.precision == LayerPrecision::full) return std::nullopt;
    return Obstacle{Kind::in_float, layer.name, "float weights and activations"};
  }
  const std::string width = widths_reason(widths), geometry = geometry_reason(layer);
  if (!geometry.empty()) return Obstacle{Kind::geometry, layer.name, geometry};
  if (!width.empty()) return Obstacle{Kind::width, layer.name, width};
  return std::nullopt;
}

std::string listed(const std::vector<std::string>& layers) {
  const std::size_t named = layers.size() <= kNamedLayers + 1 ? layers.size() : kNamedLayers;
  std::string text = fmt::format("{}", fmt::join(layers.begin(), layers.begin() + named, ", "));
  return named == layers.size() ? text : fmt::format("{} and {} more", text, layers.size() - named);
}

// "conv1, layer1.0.conv1 and 17 more (17-bit errors); fc (...)", in the order of appearance.
std::string grouped(const std::vector<Obstacle>& obstacles) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Obstacle& obstacle : obstacles) {
    auto group = std::ranges::find(groups, obstacle.reason, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {obstacle.reason, {}});
    group->second.push_back(obstacle.layer);
  }
  std::string text;
  for (const auto& [reason, layers] : groups) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", listed(layers), reason);
  }
  return text;
}

bool quantizes(const PrecisionPolicy& policy) {
  return !std::ranges::all_of(policy.widths(),
                              [](const LayerWidths& w) { return always_float(w); });
}

// Left to us, the scheme is that of the kernels.
bool executable(SchemeName scheme) {
  return scheme == SchemeName::automatic || has_kernels(scheme);
}

bool mixes_candidates(const PrecisionPolicy& policy) {
  const auto* dynamic = dynamic_cast<const DynamicPolicy*>(&policy);
  return dynamic != nullptr && dynamic->recipe().form == DynamicRecipe::Form::all_candidates;
}

// The first thing that keeps a run from being executed in integers, or "".
std::string reason_to_simulate(const BackendRequest& request, const PrecisionPolicy& policy) {
  if (request.device != "cpu") {
    return fmt::format("the device is {}; the integer kernels run on the CPU", request.device);
  }
  if (!executable(request.scheme)) {
    return fmt::format("the scheme \"{}\" has no integer kernels", name(request.scheme));
  }
  if (mixes_candidates(policy)) {
    return "the form \"all_candidates\" has no integer kernels";
  }
  const std::vector<Obstacle> obstacles = integer_obstacles(policy);
  const auto first = std::ranges::find_if(
      obstacles, [](const Obstacle& o) { return o.kind != Obstacle::Kind::in_float; });
  if (first == obstacles.end()) return "";
  return fmt::format("layer {} has {}{}", first->layer, first->reason,
                     first->kind == Obstacle::Kind::width ? "; " + taken_widths() : "");
}

// Layers in float are what the recipe asks for; any others that are not executed are a surprise.
void tell_obstacles(const PrecisionPolicy& policy, BackendChoice& choice) {
  const std::vector<Obstacle> obstacles = integer_obstacles(policy);
  if (obstacles.empty()) return;
  const bool asked_for = std::ranges::all_of(
      obstacles, [](const Obstacle& o) { return o.kind == Obstacle::Kind::in_float; });
  (asked_for ? choice.notices : choice.warnings)
      .push_back(fmt::format("precision.backend: not all is executed in integers ({}): {}",
                             taken_widths(), grouped(obstacles)));
}

BackendChoice in_integers(const BackendRequest& request, const PrecisionPolicy& policy) {
  BackendChoice choice{Backend::integer, settled_scheme(request.scheme, Backend::integer)};
  if (request.device != "cpu") {
    choice.warnings.push_back(
        fmt::format("precision.backend: the integer kernels run on the CPU; on {} everything "
                    "is simulated",
                    request.device));
    return choice;
  }
  tell_obstacles(policy, choice);
  if (request.isa == Isa::scalar) {
    choice.notices.push_back(
        "precision.backend: integers run on the scalar path, which is slow: this CPU has no AVX2, "
        "or BITCYCLE_ISA asks for it");
  }
  return choice;
}

}  // namespace

std::string name(SchemeName scheme) {
  return words(scheme)[static_cast<std::size_t>(scheme)];
}

std::string name(Backend backend) {
  return words(backend)[static_cast<std::size_t>(backend)];
}

Backend parse_backend(std::string_view text) {
  const Words known = words(Backend{});
  const auto found = std::ranges::find(known, text);
  if (found != known.end()) return static_cast<Backend>(found - known.begin());
  throw Error(ErrorCode::usage, fmt::format("there is no backend \"{}\"", text),
              suggest(text, known));
}

std::vector<Obstacle> integer_obstacles(const PrecisionPolicy& policy) {
  const std::vector<LayerWidths> widths = policy.widths();
  std::vector<Obstacle> obstacles;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    auto obstacle = obstacle_of(policy.layers()[i], widths[i]);
    if (obstacle) obstacles.push_back(*std::move(obstacle));
  }
  return obstacles;
}

SchemeName settled_scheme(SchemeName scheme, Backend backend) {
  if (scheme != SchemeName::automatic) return scheme;
  return backend == Backend::integer ? SchemeName::integer : SchemeName::sbm;
}

BackendChoice choose_backend(const BackendRequest& request, const PrecisionPolicy& policy) {
  const SchemeName simulated = settled_scheme(request.scheme, Backend::simulate);
  if (request.backend == Backend::simulate) return {Backend::simulate, simulated};
  if (request.backend == Backend::automatic) {
    if (!quantizes(policy)) return {Backend::simulate, simulated};
    const std::string reason = reason_to_simulate(request, policy);
    if (!reason.empty()) return {Backend::simulate, simulated, {"simulating: " + reason}};
  }
  return in_integers(request, policy);
}

}  // namespace bitcycle
