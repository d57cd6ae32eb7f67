#pragma once

// What the commands of `bitcycle bench` share.

#include "bitcycle/config/backend.h"
#include "bitcycle/train/bench_subject.h"

#include <string>

namespace bitcycle::cli {

// The backend that `wanted` comes to for this precision; what there is to say goes to stderr.
Backend settle_backend(const std::string& wanted, const std::vector<LayerInfo>& layers,
                       const PrecisionRecipe& precision);
// The subject of a benchmark, in the allocator that training has.
BenchSubject open_subject(const std::string& model, std::optional<int> batch);

}  // namespace bitcycle::cli
