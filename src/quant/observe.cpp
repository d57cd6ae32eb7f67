#include "quant/observe.h"

#include "bitcycle/kernels/finite.h"
#include "bitcycle/kernels/integer/code_planes.h"
#include "bitcycle/quant/quantizer.h"

#include "quant/dense.h"

#include <cmath>

namespace bitcycle {
namespace {

// The rows of a tensor in the order of memory: [pictures, ...] or [..., features].
at::Tensor as_rows(const at::Tensor& x) {
  return x.dim() == 4 ? x.permute({0, 2, 3, 1}).reshape({x.size(0), -1})
                      : x.reshape({-1, x.size(-1)});
}

// Those that are looked at.
at::Tensor some_rows(const at::Tensor& rows) {
  return rows.slice(0, 0, rows.size(0), row_step(rows.size(0), rows.size(1)))
      .to(at::kCPU, at::kFloat)
      .contiguous();
}

// A row of values that lie on the grid of so many bits over a range.
void add_row(TensorStatistics& to, std::span<const float> x, std::span<const float> quantized,
             Range range, int bits) {
  const Grid grid = make_grid(range, bits);
  add_values(to, bits, std::ssize(x), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return SeenValue{x[at], quantized[at],
                     std::nearbyint((double{quantized[at]} - grid.low) / grid.scale)};
  });
}

struct Row {
  std::int64_t number;  // in the tensor
  std::span<const float> x, quantized;
};

// Calls look(row) for each row that is looked at.
template <typename Look>
void each_row(const at::Tensor& x, const at::Tensor& quantized, const Look& look) {
  const at::NoGradGuard no_graph;
  const at::Tensor all = as_rows(x), some = some_rows(all), same = some_rows(as_rows(quantized));
  const auto size = static_cast<std::size_t>(some.size(1));
  const std::int64_t step = row_step(all.size(0), all.size(1));
  for (std::int64_t i = 0; i < some.size(0); ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * size;
    look(Row{i * step, values(some).subspan(first, size), values(same).subspan(first, size)});
  }
}

int bits_of_row(const LayerCall& call, int LayerBits::*role, std::int64_t row) {
  if (call.choice == nullptr) return call.bits.*role;
  const int option = call.choice->of_sample[static_cast<std::size_t>(row)];
  return call.choice->options[static_cast<std::size_t>(option)].*role;
}

// Of one range throughout; what chose float is not looked at.
void observe(std::optional<TensorStatistics>& role, const at::Tensor& x,
             const at::Tensor& quantized, Range range, const LayerCall& call,
             int LayerBits::*bits) {
  if (x.numel() == 0) return;
  TensorStatistics& to = with_range(role, range);
  each_row(x, quantized, [&](const Row& row) {
    const int own = bits_of_row(call, bits, row.number);
    if (own != 0) add_row(to, row.x, row.quantized, range, own);
  });
}

Range range_of_all(std::span<const float> values) {
  const Range range = range_of(values);
  return finite(range) ? range : kPoisoned;
}

double code_at(const integer::RowCodes& codes, std::size_t i) {
  if (!integer::is_wide(codes.params)) return codes.data[i];
  const std::size_t plane =
      static_cast<std::size_t>(codes.rows) * static_cast<std::size_t>(codes.width);
  return codes.data[i] * double(integer::high_plane(codes.params).worth) + codes.data[plane + i];
}

// Values are the codes' over `scales`, per column, where given.
void observe_rows(std::optional<TensorStatistics>& role, const SeenRows& rows, Range range,
                  std::span<const float> scales) {
  if (rows.values.empty()) return;
  TensorStatistics& to = with_range(role, range);
  const integer::CodeParams& params = rows.codes.params;
  const std::int64_t count = rows.codes.rows, width = rows.codes.width;
  for (std::int64_t row = 0; row < count; row += row_step(count, width)) {
    add_values(to, params.bits, width, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(row * width + i);
      const double code = code_at(rows.codes, at);
      const double folded = scales.empty() ? 1.0 : scales[static_cast<std::size_t>(i)];
      return SeenValue{rows.values[at], params.scale * (code - params.zero_point) / folded, code};
    });
  }
}

}  // namespace

TensorStatistics& with_range(std::optional<TensorStatistics>& role, Range range) {
  if (!role) {
    role.emplace().range = range;
    return *role;
  }
  role->range = {std::min(role->range.low, range.low), std::max(role->range.high, range.high)};
  return *role;
}

void observe_input(const at::Tensor& x, const at::Tensor& quantized, const LayerCall& call) {
  if (call.observed == nullptr || call.bits.activation == 0) return;
  const Range range = call.scheme->activation.range ? call.input_range : tensor_range(quantized);
  observe(call.observed->activation, x, quantized, range, call, &LayerBits::activation);
}

void observe_weight(const at::Tensor& weight, const at::Tensor& quantized, const LayerCall& call) {
  if (call.observed == nullptr || call.bits.weight == 0 || call.observed->weight) return;
  TensorStatistics& to = with_range(call.observed->weight, tensor_range(weight));
  each_row(weight, quantized, [&](const Row& row) {
    add_row(to, row.x, row.quantized, range_of(row.x), call.bits.weight);
  });
}

void observe_errors(const at::Tensor& error, const at::Tensor& quantized, const LayerCall& call) {
  if (call.observed == nullptr || call.bits.error == 0) return;
  observe(call.observed->error, error, quantized, tensor_range(error), call, &LayerBits::error);
}

void observe_weights(std::optional<TensorStatistics>& role, const SeenWeights& weights) {
  if (role) return;
  TensorStatistics& to = with_range(role, range_of_all(weights.values));
  const auto rows = std::ssize(weights.scales);
  const std::int64_t size = std::ssize(weights.values) / rows;
  const double half = std::exp2(weights.bits - 1);
  for (std::int64_t row = 0; row < rows; row += row_step(rows, size)) {
    const double scale = weights.scales[static_cast<std::size_t>(row)];
    const double offset = weights.offsets[static_cast<std::size_t>(row)];
    add_values(to, weights.bits, size, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(row * size + i);
      const double code = weights.codes[at];
      return SeenValue{weights.values[at], scale * (code + offset), code + half};
    });
  }
}

void observe_forward(LayerStatistics* observed, const SeenRows& input, Range range) {
  if (observed == nullptr) return;
  const at::Tensor source = input.weight.contiguous();
  observe_weights(observed->weight, {.values = values(source),
                                     .codes = input.weights.codes(),
                                     .scales = input.weights.scales(),
                                     .offsets = input.weights.offsets(),
                                     .bits = input.weights.bits()});
  observe_rows(observed->activation, input, range, {});
}

void observe_backward(LayerStatistics* observed, const SeenRows& errors) {
  if (observed == nullptr) return;
  observe_rows(observed->error, errors, integer::row_range(errors.values), errors.weights.scales());
}

}  // namespace bitcycle
