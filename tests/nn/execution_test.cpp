// Each layer says who carried out its last call, and what kept the integer kernels from it.

#include "bitcycle/nn/execution.h"

#include "bitcycle/nn/conv_unit.h"
#include "bitcycle/nn/lstm_layer.h"
#include "bitcycle/nn/quant_linear.h"
#include "bitcycle/quant/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bitcycle {
namespace {

using Kind = Execution::Kind;

torch::nn::Conv2dOptions conv_options() {
  return torch::nn::Conv2dOptions(4, 8, 3).padding(1).bias(false);
}

Execution after_call(ConvUnit unit, LayerBits bits, Executor executor = Executor::integer) {
  set_executor(*unit, executor);
  unit->conv->set_precision(bits, RandomKey(1));
  unit->forward(torch::randn({2, 4, 6, 6}));
  return unit->conv->last_call();
}

Execution after_call(const torch::nn::Conv2dOptions& options, LayerBits bits,
                     Executor executor = Executor::integer) {
  return after_call(ConvUnit(ConvUnitOptions{options, Activation::relu}), bits, executor);
}

TEST(ExecutionTest, AUnitThatTheKernelsTakeIsExecuted) {
  EXPECT_EQ(after_call(conv_options(), {4, 4, 8}).kind, Kind::executed);
  EXPECT_EQ(after_call(conv_options(), {4, 4, 8}, Executor::oracle).kind, Kind::executed);
  EXPECT_EQ(after_call(conv_options(), {4, 4, 8}).obstacle, "");
}

TEST(ExecutionTest, WhatKeepsTheKernelsFromAUnitIsNamed) {
  const auto obstacle = [](const torch::nn::Conv2dOptions& options, LayerBits bits) {
    const Execution call = after_call(options, bits);
    EXPECT_EQ(call.kind, Kind::simulated);
    return call.obstacle;
  };
  EXPECT_EQ(obstacle(conv_options(), {9, 8, 8}), "9-bit weights");
  EXPECT_EQ(obstacle(conv_options(), {8, 1, 8}), "1-bit activations");
  EXPECT_EQ(obstacle(conv_options(), {8, 8, 0}), "errors in float");
  EXPECT_EQ(obstacle(conv_options().dilation(2).padding(2), {8, 8, 8}), "a dilation of 2");
  EXPECT_EQ(obstacle(conv_options().bias(true), {8, 8, 8}),
            "a bias (a unit has its norm for that)");
}

TEST(ExecutionTest, FloatIsNotCalledSimulated) {
  EXPECT_EQ(after_call(conv_options(), {}).kind, Kind::in_float);
  EXPECT_EQ(after_call(conv_options(), {8, 8, 8}, Executor::simulate).kind, Kind::simulated);
}

struct Net : torch::nn::Module {
  QuantConv2d bare{register_module("bare", QuantConv2d(conv_options()))};
  QuantLinear linear{register_module("linear", QuantLinear(torch::nn::LinearOptions(8, 3)))};
  QuantLinear unused{register_module("unused", QuantLinear(torch::nn::LinearOptions(8, 3)))};
};

TEST(ExecutionTest, AModelsTableHasARowForEachLayer) {
  Net net;
  set_executor(net, Executor::integer);
  for (QuantLayer* layer : std::initializer_list<QuantLayer*>{net.bare.get(), net.linear.get()}) {
    layer->set_precision({8, 8, 8}, RandomKey(1));
  }
  net.linear->forward(net.bare->forward(torch::randn({2, 4, 6, 6})).mean({2, 3}));
  EXPECT_EQ(execution_table(executions_of(net)),
            "layer   carried out in  because it has\n"
            "------  --------------  ---------------------\n"
            "bare    simulated       no ConvUnit around it\n"
            "linear  integers        -\n"
            "unused  not called yet  -\n");
}

TEST(ExecutionTest, ProductsOfAnLstmWindowAreRecorded) {
  LstmLayer layer{QuantLinear(torch::nn::LinearOptions(5, 12)),
                  QuantLinear(torch::nn::LinearOptions(3, 12))};
  for (QuantLinear product : {layer.ih, layer.hh}) {
    set_executor(*product, Executor::integer);
    product->set_precision({8, 8, 8}, RandomKey(1));
  }
  run_window(layer, torch::randn({4, 2, 5}), torch::zeros({2, 3}), torch::zeros({2, 3}));
  EXPECT_EQ(layer.ih->last_call().kind, Kind::executed);
  EXPECT_EQ(layer.hh->last_call().kind, Kind::executed);
}

TEST(ExecutionTest, AModelWithoutQuantizedLayersIsToldOf) {
  const torch::nn::Sequential net(torch::nn::Linear(2, 2));
  EXPECT_THAT(execution_table(executions_of(*net)), testing::HasSubstr("no quantized layers"));
}

}  // namespace
}  // namespace bitcycle
