#pragma once

// Which backend carries out a run's precision: the decision behind backend = "auto", and what a
// user should know about it before the run starts. It follows from the recipe and the network
// alone, not from the machine, so that a run that resumes elsewhere goes on as it began.

#include "bitcycle/config/precision_policy.h"
#include "bitcycle/config/recipe.h"
#include "bitcycle/kernels/isa.h"

#include <string>
#include <string_view>
#include <vector>

namespace bitcycle {

using Backend = PrecisionRecipe::Backend;

// "simulate", "integer", "auto".
std::string name(Backend backend);
// As recipes write it: "auto", "sbm", ...
std::string name(SchemeName scheme);
// The backend of that name; throws Error(usage) with the nearest one.
Backend parse_backend(std::string_view text);

// Why the integer kernels do not take a layer, at some steps or at all.
struct Obstacle {
  enum class Kind { width, geometry, in_float };  // in_float: throughout, under any backend

  Kind kind = Kind::width;
  std::string layer;
  std::string reason;  // completes "layer conv1 has ...": "17-bit errors"
};
// In the order of the policy's layers. Layers that the model itself keeps in float are left out:
// they are computed in float whatever the backend.
std::vector<Obstacle> integer_obstacles(const PrecisionPolicy& policy);

// Whether the integer kernels execute a scheme.
constexpr bool has_kernels(SchemeName scheme) {
  return scheme == SchemeName::integer;
}

// The scheme that a recipe's comes to under a backend that is not automatic.
SchemeName settled_scheme(SchemeName scheme, Backend backend);

struct BackendRequest {
  Backend backend = Backend::simulate;
  SchemeName scheme = SchemeName::automatic;
  std::string device = "cpu";
  Isa isa = active_isa();  // for the notice on slow machines; does not decide
};

struct BackendChoice {
  Backend backend = Backend::simulate;    // never automatic
  SchemeName scheme = SchemeName::sbm;    // likewise
  std::vector<std::string> notices = {};  // a line each
  // Likewise: where a recipe insists on integers, what is not computed in them.
  std::vector<std::string> warnings = {};
};

// Automatic is integer where the kernels execute the scheme and take every quantized layer at every
// step, else simulate.
BackendChoice choose_backend(const BackendRequest& request, const PrecisionPolicy& policy);

}  // namespace bitcycle
