// Fully connected layers of language models at 8 bits, next to LibTorch's float matrix products, in
// turns in one process: the three products of each shape, with everything that belongs to them
// (ranges, quantizing, turning sums into reals), and the weights' quantizing and packing, which
// happens once per step. Both sides use the instruction set that BITCYCLE_ISA names.
//
//   linear_bench [repeats]

#include "bitcycle/kernels/integer/linear.h"
#include "bitcycle/kernels/isa.h"
#include "bitcycle/quant/torch.h"

#include "measure.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <unistd.h>

namespace {

using namespace bitcycle;
using namespace bitcycle::integer;

struct Shape {
  int rows, inputs, outputs;
  int calls = 1;  // one after the other, with the same weights
};
constexpr Shape kShapes[] = {{700, 650, 2600},  {20, 650, 2600, 35}, {700, 650, 10000},
                             {2048, 512, 512},  {2048, 512, 2048},   {2048, 2048, 512},
                             {2048, 512, 33278}};

std::span<float> span_of(const at::Tensor& x) {
  return {x.data_ptr<float>(), static_cast<std::size_t>(x.numel())};
}

// One call's operands and results on either side.
struct Call {
  at::Tensor x, dy, y, dx;
  std::vector<std::uint8_t> input, errors;
  RowCodes input_rows, error_rows;

  explicit Call(const Shape& s)
      : x(at::randn({s.rows, s.inputs})),
        dy(at::randn({s.rows, s.outputs})),
        y(at::empty({s.rows, s.outputs})),
        dx(at::empty({s.rows, s.inputs})),
        input(row_code_bytes(s.rows, s.inputs)),
        errors(row_code_bytes(s.rows, s.outputs)),
        input_rows{input.data(), s.rows, s.inputs, {}},
        error_rows{errors.data(), s.rows, s.outputs, {}} {}
};

class Layer {
 public:
  explicit Layer(const Shape& s)
      : weight_(at::randn({s.outputs, s.inputs}) * 0.05),
        gradient_(at::empty({s.outputs, s.inputs})),
        codes_({s.inputs, s.outputs}) {
    for (int i = 0; i < s.calls; ++i) calls_.emplace_back(s);
  }

  void quantize() { codes_.quantize(span_of(weight_), 8); }
  void forward() {
    for (Call& c : calls_) {
      c.input_rows.params = code_params(row_range(span_of(c.x)), 8);
      quantize_rows(span_of(c.x), c.input_rows.width, c.input_rows.params, c.input.data());
      linear_forward(codes_, c.input_rows, {}, span_of(c.y));
    }
  }
  void input_gradient() {
    for (Call& c : calls_) {
      c.error_rows.params = code_params(error_stats(span_of(c.dy), codes_).range, 8);
      quantize_errors(span_of(c.dy), codes_, c.error_rows.params, {1, 2}, c.errors.data());
      linear_input_gradient(codes_, c.error_rows, span_of(c.dx));
    }
  }
  void weight_gradient() {
    std::vector<LinearTerm> terms;
    for (const Call& c : calls_) terms.push_back({c.input_rows, c.error_rows});
    if (terms.size() == 1) return linear_weight_gradient(codes_, terms[0], span_of(gradient_));
    linear_weight_gradients(codes_, terms, span_of(gradient_));
  }

  void float_forward() {
    for (Call& c : calls_) at::mm_out(c.y, c.x, weight_.t());
  }
  void float_input_gradient() {
    for (Call& c : calls_) at::mm_out(c.dx, c.dy, weight_);
  }
  void float_weight_gradient() {
    at::mm_out(gradient_, calls_[0].dy.t(), calls_[0].x);
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      gradient_.addmm_(calls_[i].dy.t(), calls_[i].x);
    }
  }

 private:
  at::Tensor weight_, gradient_;
  LinearWeights codes_;
  std::vector<Call> calls_;
};

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

struct Pass {
  const char* name;
  void (Layer::*in_float)();
  void (Layer::*in_integers)();
};
constexpr Pass kPasses[] = {
    {"forward", &Layer::float_forward, &Layer::forward},
    {"input gradient", &Layer::float_input_gradient, &Layer::input_gradient},
    {"weight gradient", &Layer::float_weight_gradient, &Layer::weight_gradient}};

void print_row(const std::string& shape, const char* pass, double in_float, double in_integers) {
  std::printf("%-24s %-16s %9.3f %9.3f %6.2f\n", shape.c_str(), pass, 1e3 * in_float,
              1e3 * in_integers, in_float / in_integers);
  std::fflush(stdout);
}

void measure(const Shape& s, int repeats) {
  std::string name = std::to_string(s.rows) + " x " + std::to_string(s.inputs) + " -> " +
                     std::to_string(s.outputs);
  if (s.calls > 1) name += ", " + std::to_string(s.calls) + "x";
  Layer layer(s);
  std::vector<double> quantizing;
  const auto timed = [&](auto member) { return bench::seconds_of([&] { (layer.*member)(); }); };
  for (int i = 0; i < repeats; ++i) quantizing.push_back(timed(&Layer::quantize));
  double all_float = 0, all_integers = median(quantizing);
  for (const Pass& pass : kPasses) {
    std::vector<double> in_float, in_integers;
    timed(pass.in_float);
    timed(pass.in_integers);
    for (int i = 0; i < repeats; ++i) {
      in_float.push_back(timed(pass.in_float));
      in_integers.push_back(timed(pass.in_integers));
    }
    print_row(name, pass.name, median(in_float), median(in_integers));
    all_float += median(in_float);
    all_integers += median(in_integers);
  }
  std::printf("%-24s %-16s %9s %9.3f\n", name.c_str(), "weights to codes", "",
              1e3 * median(quantizing));
  print_row(name, "all", all_float, all_integers);
}

// LibTorch's libraries read their settings when they are loaded.
void limit_baseline(char** argv) {
  if (active_isa() != Isa::avx2 || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("ATEN_CPU_CAPABILITY", "avx2", 0);
  setenv("DNNL_MAX_CPU_ISA", "AVX2", 0);
  setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  limit_baseline(argv);
  const at::NoGradGuard no_grad;
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  std::printf("%s, %d threads, median of %d, milliseconds\n",
              std::string(bitcycle::name(active_isa())).c_str(), at::get_num_threads(), repeats);
  std::printf("%-24s %-16s %9s %9s %6s\n", "rows x in -> out", "", "LibTorch", "8 bits", "ratio");
  for (const Shape& shape : kShapes) measure(shape, repeats);
}
