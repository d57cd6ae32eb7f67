// A whole run from C++: a recipe as the tool takes it, trained in a run directory that resumes
// to the byte, and told to a sink of one's own.
// Run:     ./own_run RUN_DIRECTORY
// Prints:  the loss every ten steps and the scores, as this program's own sink writes them.

#include <iostream>

#include <bitcycle/bitcycle.h>

// What `bitcycle train` would read from a file (docs/recipes.md).
constexpr const char* kRecipe = R"(
steps = 40
log_every = 10

[model]
name = "cifar_resnet8"

[data]
dataset = "synthetic"
batch_size = 32
limit = 640

[precision]
backend = "auto"
forward = { schedule = "CR", min = 3, max = 8, cycles = 2 }
)";

class Printer : public bitcycle::EventSink {
 public:
  std::string name() const override { return "printer"; }
  void step(const bitcycle::StepReport& report) override {
    if (!report.logged) return;
    std::cout << "step " << report.step << " at " << report.bits.weight << "/" << report.bits.error
              << " bits:";
    for (const bitcycle::Measured& metric : report.metrics) {
      std::cout << " " << metric.metric.name << " " << metric.value;
    }
    std::cout << "\n";
  }
  void evaluation(const bitcycle::EvaluationReport& report) override {
    std::cout << report.split << " at " << report.bits << " bits:";
    for (const bitcycle::Measured& metric : report.score.metrics) {
      std::cout << " " << metric.metric.name << " " << metric.metric.text(metric.value);
    }
    std::cout << "\n";
  }
};

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: own_run RUN_DIRECTORY\n";
    return 2;
  }
  try {
    const bitcycle::Recipe recipe = bitcycle::parse_recipe(kRecipe, "own_run.cpp");
    bitcycle::Trainer trainer(recipe, argv[1], {std::make_shared<Printer>()});
    trainer.resume();
    trainer.run(bitcycle::StopSignal());
  } catch (const bitcycle::Error& error) {
    std::cerr << error.what() << "\n  " << error.hint() << "\n";
    return bitcycle::exit_status(error.code());
  }
}
