#include "cli/command.h"

namespace bitcycle::cli {

void add_models(CLI::App& app, Action& action) {
  (void)app;
  (void)action;
}

}  // namespace bitcycle::cli
