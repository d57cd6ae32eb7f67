#include "bitcycle/kernels/lstm_cell.h"

#include "kernels/elementwise.h"
#include "kernels/random_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace bitcycle {
namespace {

struct Step {
  std::vector<float> gates, next_cell, tanh_cell, output;
  bool operator==(const Step&) const = default;
};

Step run(const ElementwiseKernels& kernels, const std::vector<float>& input,
         const std::vector<float>& recurrent, const std::vector<float>& cell) {
  const std::size_t hidden = cell.size();
  Step step{std::vector<float>(4 * hidden), std::vector<float>(hidden), std::vector<float>(hidden),
            std::vector<float>(hidden)};
  kernels.lstm_row(input.data(), recurrent.data(), cell.data(), static_cast<std::int64_t>(hidden),
                   step.gates.data(), step.next_cell.data(), step.tanh_cell.data(),
                   step.output.data());
  return step;
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

// Gates from -100 to 100, closely around 0.
std::vector<float> wide_values(std::size_t count, std::uint64_t seed) {
  auto values = random_values(count, seed);
  for (std::size_t i = 0; i < count; ++i) values[i] *= std::pow(10.0f, float(i % 7) - 4.0f);
  return values;
}

TEST(LstmCellTest, FollowsTheEquationsInDouble) {
  const std::size_t hidden = 5000;
  const auto x = wide_values(4 * hidden, 1), h = wide_values(4 * hidden, 2);
  const auto c = random_values(hidden, 3);
  const Step step = run(elementwise_kernels(), x, h, c);
  for (std::size_t j = 0; j < hidden; ++j) {
    const auto gate = [&](std::size_t k) { return double{x[k * hidden + j] + h[k * hidden + j]}; };
    const double i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = std::tanh(gate(2));
    EXPECT_NEAR(step.gates[j], i, 2e-7);
    EXPECT_NEAR(step.gates[2 * hidden + j], g, 2e-7 * std::min(1.0, 10 * std::abs(g)));
    EXPECT_NEAR(step.next_cell[j], f * c[j] + i * g, 1e-6);
    EXPECT_NEAR(step.output[j], sigmoid(gate(3)) * std::tanh(f * c[j] + i * g), 1e-6);
  }
}

TEST(LstmCellTest, PassesNaNOn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t gate = 0; gate < 4; ++gate) {
    std::vector<float> x(4, 0.5f);
    x[gate] = nan;
    EXPECT_TRUE(std::isnan(run(elementwise_kernels(), x, {0, 0, 0, 0}, {0.5f}).output[0]));
  }
}

TEST(LstmCellTest, GivesTheSameOnEveryInstructionSet) {
  const std::size_t hidden = 77;
  const auto x = wide_values(4 * hidden, 1), h = wide_values(4 * hidden, 2);
  const auto c = random_values(hidden, 3), dh = random_values(hidden, 4);
  const auto dc = random_values(hidden, 5);
  const Step expected = run(elementwise_kernels(Isa::scalar), x, h, c);
  const auto errors = [&](Isa isa) {
    std::vector<float> gates(4 * hidden), cell(hidden);
    elementwise_kernels(isa).lstm_row_backward(
        expected.gates.data(), c.data(), expected.tanh_cell.data(), dh.data(), dc.data(),
        static_cast<std::int64_t>(hidden), gates.data(), cell.data());
    return std::pair(gates, cell);
  };
  for (const Isa isa : available_isas()) {
    EXPECT_EQ(run(elementwise_kernels(isa), x, h, c), expected) << name(isa);
    EXPECT_EQ(errors(isa), errors(Isa::scalar)) << name(isa);
  }
}

// Central differences of output . dh + next cell . dc.
TEST(LstmCellTest, BackwardIsTheGradient) {
  const std::size_t hidden = 3;
  const auto x = random_values(4 * hidden, 1), h = random_values(4 * hidden, 2);
  const auto c = random_values(hidden, 3), dh = random_values(hidden, 4);
  const auto dc = random_values(hidden, 5);
  const auto value = [&](const std::vector<double>& gates, const std::vector<double>& cell) {
    double sum = 0;
    for (std::size_t j = 0; j < hidden; ++j) {
      const double next = sigmoid(gates[hidden + j]) * cell[j] +
                          sigmoid(gates[j]) * std::tanh(gates[2 * hidden + j]);
      sum += sigmoid(gates[3 * hidden + j]) * std::tanh(next) * dh[j] + next * dc[j];
    }
    return sum;
  };
  std::vector<double> gates(4 * hidden), cell(c.begin(), c.end());
  for (std::size_t i = 0; i < gates.size(); ++i) gates[i] = double{x[i]} + h[i];
  const Step step = run(elementwise_kernels(), x, h, c);
  std::vector<float> gate_errors(4 * hidden), cell_errors(hidden);
  lstm_cell_backward({1, static_cast<std::int64_t>(hidden), step.gates.data(), c.data(),
                      step.tanh_cell.data(), dh.data(), dc.data(), gate_errors.data(),
                      cell_errors.data()});
  constexpr double kStep = 1e-5;
  const auto slope = [&](double& at) {
    at += kStep;
    const double above = value(gates, cell);
    at -= 2 * kStep;
    const double below = value(gates, cell);
    at += kStep;
    return (above - below) / (2 * kStep);
  };
  for (std::size_t i = 0; i < gates.size(); ++i) EXPECT_NEAR(gate_errors[i], slope(gates[i]), 1e-6);
  for (std::size_t j = 0; j < hidden; ++j) EXPECT_NEAR(cell_errors[j], slope(cell[j]), 1e-6);
}

}  // namespace
}  // namespace bitcycle
