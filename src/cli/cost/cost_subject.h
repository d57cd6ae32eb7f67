#pragma once

// What `bitcycle cost` counts: a network for pictures, or a language model.

#include "bitcycle/config/recipe.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/schedule/schedule.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace bitcycle::cli {

struct CostSubjectOptions {
  std::string model;
  std::optional<int> classes, image_size, channels;  // pictures
  std::optional<std::int64_t> vocabulary;            // language models
  std::vector<std::string> settings;                 // likewise: "model.hidden=200"
};

// A run of which a model is known, for those who ask for no other.
struct UsualRun {
  Step steps = 64'000;
  std::int64_t batch = 128;  // samples or tokens
  std::string basis = "CPT's on CIFAR";
};

struct CostSubject {
  std::string name;
  std::string shape;                  // "10 classes, 3x32x32"
  nlohmann::ordered_json shape_json;  // the same as JSON members
  std::int64_t parameters = 0;
  std::vector<LayerInfo> layers;
  std::string unit;  // "sample", "token"
  UsualRun usual = {};
};

// Throws Error(usage) for a model that does not exist, or options that it does not have.
CostSubject cost_subject(const CostSubjectOptions& options);
// The same of a recipe, as far as it is known without its data: pictures and classes are those of
// the dataset that it names, and so are the words of a text, unless their number is known.
CostSubject recipe_subject(const Recipe& recipe, std::optional<std::int64_t> words = {});
// The words of a run on a text; nothing where it has stored none.
std::optional<std::int64_t> stored_vocabulary(const std::filesystem::path& run);

}  // namespace bitcycle::cli
