// The optimizers on a quadratic, step by step, against paths that other programs took, in double.

#include "bitcycle/train/optimizer.h"

#include "golden/csv.h"
#include "train/gradient_norm.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitcycle {
namespace {

using nlohmann::json;
using Name = OptimizerRecipe::Name;

json golden_json(const std::string& name) {
  const std::filesystem::path folder = BITCYCLE_SOURCE_DIR "/tests/golden";
  return json::parse(std::ifstream(folder / name));
}

at::Tensor double_tensor(const json& values) {
  if (!values.at(0).is_array()) {
    return torch::tensor(values.get<std::vector<double>>(), at::kDouble);
  }
  std::vector<at::Tensor> rows;
  for (const json& row : values) rows.push_back(double_tensor(row));
  return at::stack(rows);
}

struct Point : torch::nn::Module {
  explicit Point(const at::Tensor& start) : x(register_parameter("x", start)) {}
  at::Tensor x;
};

struct Trajectory {
  const char* name;  // in trajectories.csv
  OptimizerRecipe recipe;
  const char* rates = "lr_constant";  // in quadratic.json
};

const Trajectory kTrajectories[] = {
    {"adamw", {.name = Name::adamw, .weight_decay = 0.01}},
    {"adamw_changing_lr", {.name = Name::adamw, .weight_decay = 0.01}, "lr_changing"},
    {"adamw_beta2_0.98_eps_1e-3",
     {.name = Name::adamw, .weight_decay = 0.01, .beta2 = 0.98, .epsilon = 1e-3}},
    {"fairseq_adam_beta2_0.98_eps_1e-3",
     {.name = Name::fairseq_adam, .weight_decay = 0.01, .beta2 = 0.98, .epsilon = 1e-3}},
    {"google_bert_adam_eps_1e-6", {.name = Name::bert_adam, .weight_decay = 0.01, .epsilon = 1e-6}},
    {"adam_l2", {.name = Name::adam, .weight_decay = 0.01}},
    {"nesterov", {.name = Name::nesterov, .weight_decay = 0}},
    {"nesterov_changing_lr", {.name = Name::nesterov, .weight_decay = 0}, "lr_changing"},
    {"nesterov_lr_from_zero", {.name = Name::nesterov, .weight_decay = 0}, "lr_from_zero"},
    {"nesterov_l2", {.name = Name::nesterov, .weight_decay = 0.01}},
    {"fairseq_nag", {.name = Name::fairseq_nag, .weight_decay = 0}},
    {"fairseq_nag_changing_lr", {.name = Name::fairseq_nag, .weight_decay = 0}, "lr_changing"},
    {"fairseq_nag_lr_from_zero", {.name = Name::fairseq_nag, .weight_decay = 0}, "lr_from_zero"},
    {"fairseq_nag_decay", {.name = Name::fairseq_nag, .weight_decay = 0.01}},
};

// The points of one optimizer, from the start to after the last step.
std::vector<CsvRow> golden_points(const std::string& optimizer) {
  std::vector<CsvRow> points;
  for (const CsvRow& row : golden_rows("optim/trajectories.csv")) {
    if (row.at("optimizer") == optimizer) points.push_back(row);
  }
  return points;
}

// f(x) = x'Ax / 2 - b'x
struct Quadratic {
  explicit Quadratic(const json& problem)
      : a(double_tensor(problem.at("A"))), b(double_tensor(problem.at("b"))) {}
  at::Tensor operator()(const at::Tensor& x) const { return x.dot(at::mv(a, x) / 2 - b); }

  at::Tensor a, b;
};

// Returns f there; it is a difference of numbers around 1.
at::Tensor expect_at(const at::Tensor& x, const Quadratic& f, const CsvRow& expected) {
  std::int64_t i = 0;
  for (const char* coordinate : {"x0", "x1", "x2", "x3"}) {
    expect_golden(x[i++].item<double>(), number(expected, coordinate));
  }
  const at::Tensor value = f(x);
  EXPECT_NEAR(value.item<double>(), number(expected, "f"), 1e-12);
  return value;
}

TEST(OptimizerGoldenTest, EveryOptimizerTakesTheExpectedPath) {
  const json problem = golden_json("optim/quadratic.json");
  const Quadratic f(problem);
  for (const Trajectory& trajectory : kTrajectories) {
    const auto expected = golden_points(trajectory.name);
    const auto rates = problem.at(trajectory.rates).get<std::vector<double>>();
    ASSERT_EQ(expected.size(), rates.size() + 1) << trajectory.name;
    Point point(double_tensor(problem.at("x0")));
    Optimizer optimizer(point, trajectory.recipe);
    for (std::size_t step = 0; step < rates.size(); ++step) {
      SCOPED_TRACE(testing::Message() << trajectory.name << " " << step);
      point.zero_grad();
      expect_at(point.x, f, expected[step]).backward();
      EXPECT_EQ(optimizer.step(rates[step], static_cast<std::int64_t>(step)), std::nullopt);
    }
    SCOPED_TRACE(trajectory.name);
    expect_at(point.x, f, expected.back());
  }
}

// A path that nobody takes would prove nothing.
TEST(OptimizerGoldenTest, EveryExpectedPathIsTaken) {
  std::set<std::string> taken, there;
  for (const Trajectory& trajectory : kTrajectories) taken.insert(trajectory.name);
  for (const CsvRow& row : golden_rows("optim/trajectories.csv")) there.insert(row.at("optimizer"));
  EXPECT_EQ(taken, there);
}

TEST(ClipGoldenTest, GradientsShrinkToTheNormTogether) {
  const json golden = golden_json("optim/clip.json");
  for (const json& expected : golden.at("cases")) {
    SCOPED_TRACE(expected.dump());
    std::vector<at::Tensor> gradients;
    for (const json& gradient : golden.at("gradients")) {
      gradients.push_back(double_tensor(gradient));
    }
    expect_golden(gradient_norm(gradients), expected.at("total_norm"));
    clip_gradients(gradients, expected.at("max_norm"));
    // PyTorch's and fairseq's factor, of which TensorFlow's differs wherever anything is clipped.
    const double factor =
        gradients[0][0].item<double>() / golden.at("gradients")[0][0].get<double>();
    expect_golden(factor, expected.at("coefficient"));
    const bool clips = expected.at("max_norm") <= expected.at("total_norm");
    EXPECT_EQ(factor != expected.at("coefficient_without_epsilon").get<double>(), clips);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_TRUE(at::allclose(gradients[i], double_tensor(expected.at("clipped")[i]), 1e-12, 0));
    }
  }
}

}  // namespace
}  // namespace bitcycle
