// How good are the weight gradients of a scheme? At stored weights and on the same batches: the
// cosine with float's gradient where errors are not rounded (or to 16 bits), which says what the
// forward pass costs; and what rounding errors to 8 bits adds, as shares of the gradient's power:
// noise (over several roundings) and bias. Means over layers and batches, SBM beside the integer
// scheme.
//
//   gradient_bench RECIPE WEIGHTS [forward bits] [roundings] [batches]

#include "bitcycle/base/error.h"
#include "bitcycle/train/session.h"
#include "bitcycle/train/tensor_io.h"
#include "bitcycle/train/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace bitcycle;
using Settings = std::vector<std::string>;
using Gradients = std::map<std::string, at::Tensor>;  // of convolutions, by parameter

struct Arguments {
  std::string recipe, weights;
  std::string bits = "3";
  int roundings = 4, batches = 4;
};

struct Quality {
  double cosine = 0, noise = 0, bias = 0;
};

double power(const at::Tensor& x) {
  return x.square().sum().item<double>();
}

double cosine(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum().item<double>() / std::sqrt(power(a) * power(b));
}

std::unique_ptr<Session> open(const Arguments& arguments, const Settings& settings) {
  auto session = std::make_unique<Session>(read_recipe(arguments.recipe, settings));
  take_weights(find_weights(arguments.weights), model_state(session->model()),
               session->task().layers().back().name);
  session->model().train();
  return session;
}

// The step only chooses the noise: the bits of the sessions here are static.
Gradients gradients(Session& session, int batch, Step step) {
  session.task().start(batch);
  session.apply(step);
  session.model().zero_grad();
  session.task().next_loss().loss.backward();
  Gradients result;
  for (const auto& parameter : session.model().named_parameters()) {
    if (parameter.value().dim() != 4) continue;
    result[parameter.key()] = parameter.value().grad().to(at::kDouble, false, true);
  }
  return result;
}

Quality layer_quality(const at::Tensor& real, const at::Tensor& fine,
                      const std::vector<at::Tensor>& rounded) {
  const auto count = static_cast<double>(rounded.size());
  const at::Tensor mean = at::stack(rounded).mean(0);
  double variance = 0;
  for (const at::Tensor& one : rounded) variance += power(one - mean) / (count - 1);
  // The mean still holds a part of the noise.
  const double bias = power(mean - fine) - variance / count;
  return {cosine(real, fine), variance / power(fine), bias / power(fine)};
}

// `fine` has the forward pass of `coarse`, and errors that are as good as not rounded.
Quality quality(Session& real, Session& fine, Session& coarse, const Arguments& arguments) {
  Quality sum;
  double count = 0;
  for (int batch = 0; batch < arguments.batches; ++batch) {
    const Gradients a = gradients(real, batch, 0), b = gradients(fine, batch, 0);
    std::vector<Gradients> all;
    for (int i = 1; i <= arguments.roundings; ++i) all.push_back(gradients(coarse, batch, i));
    for (const auto& [name, gradient] : a) {
      std::vector<at::Tensor> rounded;
      for (const Gradients& one : all) rounded.push_back(one.at(name));
      const Quality layer = layer_quality(gradient, b.at(name), rounded);
      sum.cosine += layer.cosine;
      sum.noise += layer.noise;
      sum.bias += layer.bias;
      ++count;
    }
  }
  return {sum.cosine / count, sum.noise / count, sum.bias / count};
}

Settings with(Settings settings, std::string more) {
  settings.push_back(std::move(more));
  return settings;
}

void run(const Arguments& arguments) {
  const std::string forward = "precision.forward=" + arguments.bits;
  const Settings sbm{forward, "precision.scheme=sbm", "precision.backend=simulate"};
  const Settings integer{forward, "precision.scheme=integer", "precision.backend=integer"};
  const auto real = open(arguments, {"precision.forward=0", "precision.backend=simulate"});
  std::printf("%-8s %5s  %17s  %7s  %8s\n", "scheme", "bits", "cosine with float", "noise", "bias");
  const auto print = [&](const char* name, const Settings& settings, const char* fine) {
    const auto a = open(arguments, with(settings, fine));
    const auto b = open(arguments, with(settings, "precision.backward=8"));
    const Quality found = quality(*real, *a, *b, arguments);
    std::printf("%-8s %3s/8  %17.4f  %7.5f  %8.5f\n", name, arguments.bits.c_str(), found.cosine,
                found.noise, found.bias);
  };
  print("sbm", sbm, "precision.backward=0");
  print("integer", integer, "precision.backward=16");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: gradient_bench RECIPE WEIGHTS [forward bits] [roundings] [batches]\n");
    return 2;
  }
  Arguments arguments{argv[1], argv[2]};
  if (argc > 3) arguments.bits = argv[3];
  if (argc > 4) arguments.roundings = std::max(std::atoi(argv[4]), 2);
  if (argc > 5) arguments.batches = std::max(std::atoi(argv[5]), 1);
  try {
    run(arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "gradient_bench: %s\n", error.what());
    return 1;
  }
}
