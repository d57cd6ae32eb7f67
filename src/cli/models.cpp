// `bitcycle models`: the networks of the zoo and the language models, with their sizes.

#include "bitcycle/cost/cost_model.h"
#include "bitcycle/network/language_model_kind.h"
#include "bitcycle/network/zoo.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"
#include "cli/cost/cost_subject.h"

#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

std::string size(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

std::string picture_table() {
  Table table({"model", "parameters", "MACs", "classes", "input", "what it is"});
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    table.add_row({entry.name, std::to_string(network.parameters()), std::to_string(network.macs()),
                   std::to_string(network.classes), size(network.input), entry.summary});
  }
  return table.text();
}

std::string language_table() {
  Table table({"model", "parameters", "MACs", "trained with", "what it is"});
  for (const LanguageModelEntry& entry : language_models()) {
    const std::string model(entry.name);
    const CostSubject subject = cost_subject({.model = model});
    table.add_row({model, std::to_string(subject.parameters),
                   std::to_string(CostModel(subject.layers, Counting::macs).macs()), subject.shape,
                   std::string(entry.summary)});
  }
  return table.text();
}

void print_table() {
  fmt::print(
      "{}\nMACs are those of one sample, forward. Any cifar_resnet<6n+2> works too; classes "
      "and input can be changed.\n\n{}\nMACs are those of one token, forward, those that stay in "
      "float included. All sizes can be changed.\n",
      picture_table(), language_table());
}

void print_json() {
  auto models = nlohmann::ordered_json::array();
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    const ImageShape& input = network.input;
    models.push_back({{"model", entry.name},
                      {"params", network.parameters()},
                      {"macs", network.macs()},
                      {"classes", network.classes},
                      {"input", {input.channels, input.height, input.width}},
                      {"summary", entry.summary}});
  }
  for (const LanguageModelEntry& entry : language_models()) {
    const CostSubject subject = cost_subject({.model = std::string(entry.name)});
    nlohmann::ordered_json json = {{"model", entry.name},
                                   {"params", subject.parameters},
                                   {"macs", CostModel(subject.layers, Counting::macs).macs()}};
    json.update(subject.shape_json);
    json["summary"] = entry.summary;
    models.push_back(std::move(json));
  }
  fmt::print("{}\n", json_text(models, 2));
}

}  // namespace

void add_models(CLI::App& app, Action& action) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("models", "The networks that come with Bitcycle, with their sizes");
  command->add_flag("--json", *json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  bitcycle models                         names, sizes and what they are\n"
      "  bitcycle models --json                  the same for programs\n"
      "  bitcycle cost resnet18 --per-layer      the layers of one");
  command->callback([json, &action] {
    action = [json] {
      *json ? print_json() : print_table();
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
