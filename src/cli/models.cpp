// `bitcycle models`: the networks of the zoo with their sizes.

#include "bitcycle/network/zoo.h"
#include "bitcycle/report/table.h"

#include "base/json_text.h"
#include "cli/command.h"

#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace bitcycle::cli {
namespace {

std::string size(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

void print_table() {
  Table table({"model", "parameters", "MACs", "classes", "input", "what it is"});
  for (const ZooEntry& entry : zoo()) {
    const Network network = make_network(entry.name);
    table.add_row({entry.name, std::to_string(network.parameters()), std::to_string(network.macs()),
                   std::to_string(network.classes), size(network.input), entry.summary});
  }
  fmt::print(
      "{}\nMACs are those of one sample, forward. Any cifar_resnet<6n+2> works too; classes "
      "and input can be changed.\n",
      table.text());
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
  fmt::print("{}\n", json_text(models, 2));
}

}  // namespace

void add_models(CLI::App& app, Action& action) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("models", "The networks that come with Bitcycle, with their sizes");
  command->add_flag("--json", *json, "Print JSON");
  command->callback([json, &action] {
    action = [json] {
      *json ? print_json() : print_table();
      return 0;
    };
  });
}

}  // namespace bitcycle::cli
