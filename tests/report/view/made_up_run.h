#pragma once

// A run directory with known content, for tests of what is read from it.

#include "bitcycle/io/file.h"

#include "io/temporary_directory.h"

#include <string>

namespace bitcycle {

class MadeUpRun {
 public:
  // CR 3-8/8 over `steps`, of which none is logged yet.
  explicit MadeUpRun(int steps = 100) {
    write("recipe.toml",
          "steps = " + std::to_string(steps) +
              "\nlog_every = 10\n[model]\nname = \"cifar_resnet8\"\n[data]\ndataset = "
              "\"fashion_mnist\"\n[precision]\nforward = { schedule = \"CR\", min = 3, max = 8, "
              "cycles = 2 }\nbackward = 8\n");
    log(R"({"type":"run","step":0,"backend":"integer","counting":"paper","id":"x"})");
  }

  const std::filesystem::path& path() const { return directory_.path(); }
  void write(const std::string& file, const std::string& text) {
    write_file(directory_ / file, text);
  }
  void log(const std::string& line) {
    metrics_ += line + "\n";
    write("metrics.jsonl", metrics_);
  }
  // A logged step with these bits of weights and activations.
  void log_step(int step, double loss, int bits, double gbitops = 1, double gbitops_static = 2) {
    log(R"({"type":"step","step":)" + std::to_string(step) + R"(,"epoch":)" +
        std::to_string(step / 10.0) + R"(,"loss":)" + std::to_string(loss) +
        R"(,"lr":0.1,"weight_bits":)" + std::to_string(bits) + R"(,"activation_bits":)" +
        std::to_string(bits) + R"(,"error_bits":8,"gbitops":)" + std::to_string(gbitops) +
        R"(,"gbitops_static":)" + std::to_string(gbitops_static) + "}");
  }

 private:
  TemporaryDirectory directory_;
  std::string metrics_;
};

}  // namespace bitcycle
