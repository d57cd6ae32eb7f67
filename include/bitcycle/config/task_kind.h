#pragma once

// What a model is trained for, as far as it is known without its data: its name says it. The tasks
// themselves are in bitcycle/tasks/.

#include "bitcycle/config/recipe.h"
#include "bitcycle/events/metric.h"
#include "bitcycle/network/language.h"
#include "bitcycle/network/layer_info.h"
#include "bitcycle/network/network.h"

#include <string_view>
#include <vector>

namespace bitcycle {

enum class TaskKind { image_classification, language_model };

TaskKind task_of(std::string_view model);
const TaskMetrics& metrics_of(TaskKind task);
// What is counted: "sample" or "token". LayerInfo's multiply-accumulates are those of one.
std::string_view work_unit(TaskKind task);
// The datasets that a task can be trained on.
std::vector<std::string> datasets_of(TaskKind task);

// Whether there is a validation split: held out, or the dataset's own.
bool has_validation(const DataRecipe& data);

// The network of a recipe for pictures, whose classes and sizes are those that it names, else its
// dataset's; with gates, where they choose its precision. Throws Error(usage) for what no network
// has.
Network picture_network(const Recipe& recipe);
// `network` as the precision of a recipe wants it: with the scheme's layers in float, and with
// gates where they choose the bits.
Network for_precision(Network network, const PrecisionRecipe& precision);

// Of a language model's recipe, for a vocabulary of that size.
LstmOptions lstm_options(const ModelRecipe& recipe, std::int64_t vocabulary);
TransformerOptions transformer_options(const ModelRecipe& recipe, std::int64_t vocabulary);
// Words of the corpus that a language model is usually trained on: Penn Treebank's, WikiText-2's.
std::int64_t usual_vocabulary(std::string_view model);
// Words of a recipe's corpus as it is published; of a text that is read byte by byte all bytes.
std::int64_t published_vocabulary(const DataRecipe& data);
// Tokens of a window: data.window, or what is usual for the model.
std::int64_t window_of(const Recipe& recipe);
// The layers of a recipe's language model. Throws Error(usage) for sizes that no such model has.
std::vector<LayerInfo> language_layers(const Recipe& recipe, std::int64_t vocabulary);
std::int64_t language_parameters(const Recipe& recipe, std::int64_t vocabulary);

}  // namespace bitcycle
