// Where the time of a training step goes: all convolutions and fused passes of a CIFAR ResNet,
// forward and backward, on buffers of their own as in training, without loss, optimizer or data.
// Each convolution is followed by batch norm and ReLU; every second one joins the residual stream.
//
//   step_skeleton [n = 6] [batch = 128] [repeats = 5]     ResNet of depth 6n + 2

#include "bitcycle/kernels/integer/passes.h"

#include "kernels/integer/microkernels.h"
#include "measure.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <omp.h>

namespace {

using namespace bitcycle;
using namespace bitcycle::integer;

enum Part { kPack, kForward, kActivation, kNorm, kData, kWeights, kParts };
constexpr const char* kNames[] = {"pack",          "forward",       "activation",
                                  "norm backward", "backward-data", "backward-weights"};
using Times = std::array<double, kParts>;

// One convolution with what it keeps for the backward pass.
struct Layer {
  ConvShape shape;
  bool joins;  // adds the residual stream
  ConvWeights packed;
  std::vector<float> weights, gradient, gamma, beta;
  std::vector<std::uint8_t> input, errors, mask;
  std::vector<Half> y, dx;
  CodeParams input_params;
  ChannelStats stats;
  BatchNorm norm;

  Layer(const ConvShape& s, bool join)
      : shape(s),
        joins(join),
        packed(s),
        weights(static_cast<std::size_t>(s.weights())),
        gradient(weights.size()),
        gamma(static_cast<std::size_t>(s.out_channels), 1.0f),
        beta(gamma.size(), 0.0f),
        input(s.input_grid().bytes()),
        errors(s.error_grid().bytes()),
        mask(mask_bytes(s.error_grid())),
        y(static_cast<std::size_t>(s.error_grid().elements())),
        dx(static_cast<std::size_t>(s.input_grid().elements())) {
    const RandomKey key(static_cast<std::uint64_t>(s.weights()));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(key.normal(i)) * 0.1f;
    }
  }
  std::int64_t count() const { return shape.error_grid().elements() / shape.out_channels; }
};

class Skeleton {
 public:
  Skeleton(int n, int batch) {
    int width = 16, size = 32, in = 3;
    add({batch, size, size, in, width, 3, 1, 1}, false);
    for (int stage = 0; stage < 3; ++stage, width *= 2) {
      for (int block = 0; block < n; ++block) {
        const int stride = stage > 0 && block == 0 ? 2 : 1;
        add({batch, size, size, layers_.back()->shape.out_channels, width, 3, stride, 1}, false);
        size /= stride;
        add({batch, size, size, width, width, 3, 1, 1}, true);
      }
    }
    std::size_t largest = 0;
    for (const auto& layer : layers_) largest = std::max(largest, layer->y.size());
    stream_.resize(largest);
    stream_gradient_.resize(largest);
    image_.resize(static_cast<std::size_t>(layers_.front()->shape.input_grid().elements()));
    for (std::size_t i = 0; i < image_.size(); ++i) {
      image_[i] = to_half(static_cast<float>(RandomKey(5).normal(i)));
    }
  }

  Times step(int bits, int error_bits) {
    Times times{};
    const auto timed = [&](Part part, auto&& work) { times[part] += bench::seconds_of(work); };
    Layer& first = *layers_.front();
    first.input_params = code_params({-3.0f, 3.0f}, bits);
    quantize(first.shape.input_grid(), {image_.data(), {}, {}, {}, Rectify::none},
             first.input_params, first.input.data());
    for (std::size_t i = 0; i < layers_.size(); ++i) forward(i, bits, timed);
    for (std::size_t i = layers_.size(); i-- > 0;) backward(i, error_bits, timed);
    return times;
  }

 private:
  void add(const ConvShape& shape, bool joins) {
    layers_.push_back(std::make_unique<Layer>(shape, joins));
  }

  template <typename Timed>
  void forward(std::size_t i, int bits, Timed timed) {
    Layer& l = *layers_[i];
    timed(kPack, [&] { l.packed.quantize(l.weights, bits); });
    timed(kForward, [&] {
      conv_forward(l.shape, {l.input.data(), l.input_params}, l.packed, {}, l.y.data(), &l.stats);
    });
    timed(kActivation, [&] {
      l.norm = batch_norm_forward(l.stats, l.count(), l.gamma, l.beta, 1e-5);
      const CodeGrid grid = l.shape.error_grid();
      ActivationSource source{l.y.data(), {}, l.norm.scale, l.norm.shift, Rectify::relu};
      Range range;
      if (l.joins) {
        source.residual = stream_.data();
        range = activate(grid, source, stream_.data(), l.mask.data());
        source = {stream_.data(), {}, {}, {}, Rectify::none};
      } else {
        range = activation_range(l.stats, source);
      }
      if (i + 1 == layers_.size()) return;
      Layer& next = *layers_[i + 1];
      next.input_params = code_params(range, bits);
      quantize(next.shape.input_grid(), source, next.input_params, next.input.data());
    });
  }

  template <typename Timed>
  void backward(std::size_t i, int bits, Timed timed) {
    Layer& l = *layers_[i];
    const CodeGrid grid = l.shape.error_grid();
    Half* gradient = i + 1 < layers_.size() ? layers_[i + 1]->dx.data() : stream_gradient_.data();
    CodeParams params;
    timed(kNorm, [&] {
      GradientSource source{gradient, {}, l.y.data(), nullptr, l.norm.scale, l.norm.shift};
      if (l.joins) source = {gradient, stream_gradient_.data(), l.y.data(), l.mask.data(), {}, {}};
      const MutableReal kept = l.joins ? MutableReal(stream_gradient_.data()) : MutableReal();
      const GradientSums sums = gradient_sums(grid, source, l.norm.mean, kept);
      if (l.joins) source = {stream_gradient_.data(), {}, l.y.data(), nullptr, {}, {}};
      const BatchNormGradient d = batch_norm_backward(l.norm, sums, l.count(), l.packed.scales());
      const ErrorSource errors{source, d.a, d.b, d.c};
      params = code_params(error_range(grid, errors), bits);
      quantize_errors(grid, errors, params, {1, static_cast<std::uint32_t>(i)}, l.errors.data());
    });
    const Codes errors{l.errors.data(), params};
    timed(kWeights, [&] {
      conv_backward_weights(l.shape, {l.input.data(), l.input_params}, errors, l.packed,
                            l.gradient);
    });
    if (i > 0) timed(kData, [&] { conv_backward_data(l.shape, errors, l.packed, l.dx.data()); });
  }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Half> stream_, stream_gradient_, image_;
};

void report(const char* label, std::vector<Times> runs) {
  const auto total = [](const Times& t) {
    double sum = 0;
    for (const double part : t) sum += part;
    return sum;
  };
  std::sort(runs.begin(), runs.end(),
            [&](const Times& a, const Times& b) { return total(a) < total(b); });
  std::printf("%s: best %.1f ms, median %.1f ms; best run:", label, total(runs.front()) * 1e3,
              total(runs[runs.size() / 2]) * 1e3);
  for (int p = 0; p < kParts; ++p) std::printf("  %s %.1f", kNames[p], runs.front()[p] * 1e3);
  std::printf("\n");
}

int argument(int argc, char** argv, int index, int otherwise) {
  return argc > index ? std::atoi(argv[index]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argument(argc, argv, 3, 5);
  Skeleton skeleton(argument(argc, argv, 1, 6), argument(argc, argv, 2, 128));
  constexpr int kWidths[] = {3, 4, 6, 8};
  for (const Isa isa : available_isas()) {
    if (isa == Isa::scalar) continue;
    const ScopedIsa scope(isa);
    std::vector<std::vector<Times>> runs(std::size(kWidths));
    for (int r = 0; r < repeats; ++r) {  // widths take turns
      for (std::size_t w = 0; w < runs.size(); ++w) runs[w].push_back(skeleton.step(kWidths[w], 8));
    }
    for (std::size_t w = 0; w < runs.size(); ++w) {
      const std::string label =
          std::string(name(isa)) + " " + std::to_string(kWidths[w]) + "/8 bits";
      report(label.c_str(), runs[w]);
    }
  }
}
